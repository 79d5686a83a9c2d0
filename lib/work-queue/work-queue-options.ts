/** The options of the operator `workQueue`. */
import type { Metered } from '../meta/metrics.ts';
import type { Timing } from '../rx/timing.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { RateLimitingQueue } from './work-queue.ts';

/** Options of `workQueue`. */
export interface WorkQueueOptions<K = string> extends Pick<Timing, 'scheduler'> {
  /** How many keys are processed at the same time. @defaultValue 1 */
  readonly concurrency?: number | undefined;
  /** Determines the wait before a failed key is retried. @defaultValue `defaultControllerRateLimiter()` */
  readonly rateLimiter?: RateLimiter<K> | undefined;
  /** How often a failing key is retried before it is given up. @defaultValue Infinity */
  readonly maxRetries?: number | undefined;
  /**
   * A shared queue to process, with its own rate limiter, clock and metrics. Keys that other code adds to it are processed,
   * too. The stream completes when the queue is shut down and empty, and never shuts it down itself. If the subscriber
   * unsubscribes, keys whose runs do not end well are returned to the queue. On a priority queue a retry keeps the priority of its key.
   *
   * @defaultValue a rate-limiting queue for each subscription
   */
  readonly queue?: RateLimitingQueue<K> | undefined;
  /** Whether the stream waits, after the source has ended, for retries and requeues that are not due yet. @defaultValue true */
  readonly drainDelayed?: boolean | undefined;
  /** The label `name` of the metrics. @defaultValue '' */
  readonly name?: string | undefined;
  /** Measures the queue: `metered(provider)`. @defaultValue not measured */
  readonly metrics?: Metered | undefined;
}
