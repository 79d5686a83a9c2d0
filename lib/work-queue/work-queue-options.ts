/** What the operator `workQueue` takes. */
import type { MetricsProvider } from '../meta/metrics.ts';
import type { Timing } from '../rx/timing.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { RateLimitingQueue } from './work-queue.ts';

/** Options of `workQueue`. */
export interface WorkQueueOptions<K = string> extends Pick<Timing, 'scheduler'> {
  /** How many keys are worked on at once. @defaultValue 1 */
  readonly concurrency?: number | undefined;
  /** Says when a failed key is tried again. @defaultValue `defaultControllerRateLimiter()` */
  readonly rateLimiter?: RateLimiter<K> | undefined;
  /** How often a failing key is tried again before it is given up. @defaultValue Infinity */
  readonly maxRetries?: number | undefined;
  /**
   * The queue to work on, with a limiter, a clock and metrics of its own. Keys that others add to it are worked on
   * too; when it is shut down and empty the stream completes. It is not shut down with the stream: that is for who
   * made it. Who unsubscribes gives back the keys of runs that did not end well. On a priority queue a key is tried again with the priority that it had.
   *
   * @defaultValue a rate-limiting queue for each subscription
   */
  readonly queue?: RateLimitingQueue<K> | undefined;
  /** Whether the end of the source waits for retries and requeues whose time has not come. @defaultValue true */
  readonly drainDelayed?: boolean | undefined;
  /** The label `name` of the metrics. @defaultValue '' */
  readonly name?: string | undefined;
  /** Told what the queue does. @defaultValue none */
  readonly metrics?: MetricsProvider | undefined;
}
