/**
 * The arithmetic of a token bucket, shared by the brake before requests and the limiter of a work queue.
 */
import type { SchedulerLike } from 'rxjs';

/**
 * Each call takes a token and answers how long to wait for it, in milliseconds; turns are kept in order.
 * `qps` tokens a second, `burst` at once; a `qps` of 0 or less, or of Infinity, means no limit.
 */
export function tokenReservations(options: {
  readonly qps: number;
  readonly burst: number;
  readonly scheduler: SchedulerLike;
}): () => number {
  const { qps, scheduler } = options;
  if (!(qps > 0 && Number.isFinite(qps))) return () => 0;
  const burst = Math.max(1, options.burst);
  let tokens = burst;
  let atMs = scheduler.now();
  return () => {
    const now = scheduler.now();
    tokens = Math.min(burst, tokens + (Math.max(0, now - atMs) / 1000) * qps);
    atMs = now;
    tokens -= 1;
    return tokens >= 0 ? 0 : Math.ceil((-tokens / qps) * 1000);
  };
}
