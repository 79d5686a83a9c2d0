/**
 * The arithmetic of a token bucket, shared by the rate limit of requests and the rate limiter of a work queue.
 */
import type { SchedulerLike } from 'rxjs';
import { stopwatch } from './stopwatch.ts';

/** Takes a token and returns the wait for it, in milliseconds. Tokens are granted in order. */
export interface TokenReservations {
  (): number;
  /** Returns an unused token. Callers that took a token after it do not wait less. */
  giveBack(): void;
}

/**
 * Creates a bucket of `qps` tokens per second with a burst of `burst`. A `qps` of 0 or less, or of Infinity, means no
 * limit.
 */
export function tokenReservations(options: {
  readonly qps: number;
  readonly burst: number;
  readonly scheduler: SchedulerLike;
}): TokenReservations {
  const { qps, scheduler } = options;
  if (!(qps > 0 && Number.isFinite(qps))) return Object.assign(() => 0, { giveBack: () => {} });
  const burst = Math.max(1, options.burst);
  let tokens = burst;
  const passedMs = stopwatch(scheduler);
  let atMs = 0;
  const take = () => {
    const now = passedMs();
    tokens = Math.min(burst, tokens + ((now - atMs) / 1000) * qps);
    atMs = now;
    tokens -= 1;
    return tokens >= 0 ? 0 : Math.ceil((-tokens / qps) * 1000);
  };
  return Object.assign(take, {
    giveBack: () => {
      tokens += 1;
    },
  });
}
