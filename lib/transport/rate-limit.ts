/**
 * The rate limit of a client: a token bucket before each request, so that a bug in a controller cannot overload the
 * API server. client-go: util/flowcontrol/throttle.go.
 */
import { Observable, type SchedulerLike, type Subscriber, type Subscription } from 'rxjs';
import { longTimer } from '../rx/long-timer.ts';
import { tokenReservations } from '../rx/token-bucket.ts';

/**
 * Takes a token. `null` means that the request can be sent now; otherwise the Observable emits when it is the
 * request's turn.
 */
export type RateLimit = () => Observable<unknown> | null;

/**
 * Creates a rate limit of `qps` requests per second with a burst of `burst`. A `qps` of 0 or less, or of Infinity,
 * means no limit.
 *
 * Requests get their turns in the order of their subscriptions. A request that is unsubscribed while it waits leaves
 * its turn to the next one.
 */
export function tokenBucket(options: {
  readonly qps: number;
  readonly burst: number;
  readonly scheduler: SchedulerLike;
}): RateLimit {
  const reserve = tokenReservations(options);
  const waiting = new Set<Subscriber<unknown>>();
  /** While requests wait, one token is reserved. The first request in the queue gets it when its wait has passed. */
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

/** Creates one limit per lane on first use. Requests of one lane do not wait for those of another. */
export function laneLimits(make: () => RateLimit): (lane: string) => RateLimit {
  const limits = new Map<string, RateLimit>();
  return (lane) => {
    const limit = limits.get(lane) ?? make();
    limits.set(lane, limit);
    return limit;
  };
}
