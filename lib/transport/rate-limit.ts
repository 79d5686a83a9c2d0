/**
 * The client's own brake: a token bucket before each request, so that a bug in a controller cannot hammer the
 * API server. client-go: util/flowcontrol/throttle.go.
 */
import { Observable, type SchedulerLike } from 'rxjs';
import { tokenReservations } from '../rx/token-bucket.ts';

/** Hands out tokens: `null` means go on at once, an Observable fires when it is this request's turn. */
export type RateLimit = () => Observable<unknown> | null;

/**
 * `qps` tokens a second, `burst` at once. A `qps` of 0 or less means no limit.
 *
 * Each caller reserves its token when it asks, so that turns are kept in order; unsubscribing while it
 * waits does not give the token back.
 */
export function tokenBucket(options: {
  readonly qps: number;
  readonly burst: number;
  readonly scheduler: SchedulerLike;
}): RateLimit {
  const reserve = tokenReservations(options);
  return () => {
    const waitMs = reserve();
    if (waitMs === 0) return null;
    return new Observable<void>((subscriber) =>
      options.scheduler.schedule(() => {
        subscriber.next();
        subscriber.complete();
      }, waitMs),
    );
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
