/**
 * The client's own brake: a token bucket before each request, so that a bug in a controller cannot hammer the
 * API server. client-go: util/flowcontrol/throttle.go.
 */
import { Observable, type SchedulerLike } from 'rxjs';

/** Hands out tokens: `null` means go on at once, an Observable fires when it is this request's turn. */
export type RateLimit = () => Observable<unknown> | null;

/**
 * `qps` tokens a second, `burst` at once. A `qps` of 0 or less means no limit.
 *
 * Each caller reserves its token when it subscribes, so that turns are kept in order; unsubscribing while it
 * waits does not give the token back.
 */
export function tokenBucket(options: {
  readonly qps: number;
  readonly burst: number;
  readonly scheduler: SchedulerLike;
}): RateLimit {
  const { qps, scheduler } = options;
  if (!(qps > 0)) return () => null;
  const burst = Math.max(1, options.burst);
  let tokens = burst;
  let atMs = scheduler.now();
  return () => {
    const now = scheduler.now();
    tokens = Math.min(burst, tokens + (Math.max(0, now - atMs) / 1000) * qps);
    atMs = now;
    tokens -= 1;
    if (tokens >= 0) return null;
    const waitMs = Math.ceil((-tokens / qps) * 1000);
    return new Observable<void>((subscriber) =>
      scheduler.schedule(() => {
        subscriber.next();
        subscriber.complete();
      }, waitMs),
    );
  };
}
