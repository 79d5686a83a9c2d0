/** What the operator `workQueue` takes. */
import type { MetricsProvider } from '../meta/metrics.ts';
import type { Timing } from '../rx/timing.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { RateLimitingQueue } from './work-queue.ts';

/** Options of `workQueue`. */
export interface WorkQueueOptions<K = string> extends Pick<Timing, 'scheduler'> {
  /** How many keys are worked on at once. @defaultValue 1 */
  readonly concurrency?: number;
  /** Says when a failed key is tried again. @defaultValue `defaultControllerRateLimiter()` */
  readonly rateLimiter?: RateLimiter<K>;
  /** How often a failing key is tried again before it is given up. @defaultValue Infinity */
  readonly maxRetries?: number;
  /**
   * The queue to work on. Keys that others add to it are worked on too, and it is not shut down at the end: that
   * is for who made it. Its limiter and clock are used. @defaultValue a rate-limiting queue of its own
   */
  readonly queue?: RateLimitingQueue<K>;
  /** Whether the end of the source waits for retries and requeues whose time has not come. @defaultValue true */
  readonly drainDelayed?: boolean;
  /** For the metrics. @defaultValue '' */
  readonly name?: string;
  /** Told what the queue does. @defaultValue none */
  readonly metrics?: MetricsProvider;
}
