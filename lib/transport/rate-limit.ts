/**
 * The client's own brake: a token bucket before each request, so that a bug in a controller cannot hammer the
 * API server. client-go: util/flowcontrol/throttle.go.
 */
import { Observable, type SchedulerLike, type Subscriber, type Subscription } from 'rxjs';
import { longTimer } from '../rx/long-timer.ts';
import { tokenReservations } from '../rx/token-bucket.ts';

/** Hands out tokens: `null` means go on at once, an Observable fires when it is this request's turn. */
export type RateLimit = () => Observable<unknown> | null;

/**
 * `qps` tokens a second, `burst` at once. A `qps` of 0 or less, or of Infinity, means no limit.
 *
 * Turns are in the order of the subscriptions. Who unsubscribes while it waits leaves its turn to those behind it.
 */
export function tokenBucket(options: {
  readonly qps: number;
  readonly burst: number;
  readonly scheduler: SchedulerLike;
}): RateLimit {
  const reserve = tokenReservations(options);
  const waiting = new Set<Subscriber<unknown>>();
  /** While somebody waits, one token is taken: that of whoever is first when its time has come. */
  let next: Subscription | undefined;
  const serve = () => {
    const [first] = waiting;
    if (first === undefined) return;
    waiting.delete(first);
    next = undefined;
    if (waiting.size > 0) next = longTimer(reserve(), options.scheduler).subscribe(serve);
    first.next(undefined);
    first.complete();
  };
  const turn = new Observable<unknown>((subscriber) => {
    waiting.add(subscriber);
    next ??= longTimer(reserve(), options.scheduler).subscribe(serve);
    return () => {
      if (!waiting.delete(subscriber) || waiting.size > 0) return;
      next?.unsubscribe();
      next = undefined;
      reserve.giveBack();
    };
  });
  return () => {
    if (waiting.size > 0) return turn;
    if (reserve() === 0) return null;
    reserve.giveBack();
    return turn;
  };
}

/** A limit for each lane, made when it is first asked for: who is in one waits for nobody in another. */
export function laneLimits(make: () => RateLimit): (lane: string) => RateLimit {
  const limits = new Map<string, RateLimit>();
  return (lane) => {
    const limit = limits.get(lane) ?? make();
    limits.set(lane, limit);
    return limit;
  };
}
