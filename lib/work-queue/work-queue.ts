/**
 * The faces of the queues: keys wait here between what noticed a change and what acts on it.
 */
import type { Observable } from 'rxjs';
import type { QueueMetrics } from './queue-metrics.ts';

/**
 * A queue of keys in which a key waits once, however often it is added, and is never with two workers. A key
 * that is added while it is worked on waits again after `done`.
 *
 * client-go: util/workqueue/queue.go
 */
export interface WorkQueue<K = string> {
  readonly name: string;
  /** Has no effect on a key that waits already, nor after `shutDown`. */
  add(key: K): void;
  /** The next key, as soon as there is one; `undefined` once the queue is shut down and empty. */
  get(): Promise<K | undefined>;
  /** The next key, or `undefined` where none is ready. */
  tryGet(): K | undefined;
  /** Gives back a key that `get` gave out. */
  done(key: K): void;
  /** How many keys are ready to be got. */
  readonly len: number;
  /** How many keys are with a worker. */
  readonly processing: number;
  /** How many keys wait for their time. */
  readonly waiting: number;
  readonly shuttingDown: boolean;
  /** Refuses what is added from now on; what is queued can still be got. Drops what waits for its time. */
  shutDown(): void;
  /** `shutDown`, and resolves when what was queued is done. A later `shutDown` resolves it at once. */
  shutDownWithDrain(): Promise<void>;
  /**
   * Resolves when nothing is queued and nothing with a worker; with `delayed`, when nothing waits for its time
   * either. It refuses no key. `shutDown` does not resolve it: what is queued is still to be done.
   */
  drain(options?: { readonly delayed?: boolean }): Promise<void>;
  /** How long a key that is with a worker had waited, in milliseconds; 0 for others. */
  queuedMs(key: K): number;
  /** Emits when a key is ready or the queue's state may have changed: `tryGet` until it has none. */
  readonly ready$: Observable<void>;
  /** The figures of this moment. */
  readonly metrics: QueueMetrics;
  /**
   * The figures now, and then every half second in which they changed. Completes when the queue is shut down
   * and all is done.
   */
  readonly metrics$: Observable<QueueMetrics>;
}

/**
 * A queue to which a key can be added for later.
 *
 * client-go: util/workqueue/delaying_queue.go
 */
export interface DelayingQueue<K = string> extends WorkQueue<K> {
  /** Adds the key after `delayMs`; at once for 0 or less. Of two times for one key the earlier counts. */
  addAfter(key: K, delayMs: number): void;
  /** Takes back a delayed add; false where there was none. A key that is ready by now stays. */
  cancelAfter(key: K): boolean;
}

/**
 * A queue that knows how long a failing key should wait.
 *
 * client-go: util/workqueue/rate_limiting_queue.go
 */
export interface RateLimitingQueue<K = string> extends DelayingQueue<K> {
  /** Adds the key when the rate limiter says that it may. Returns the wait in milliseconds. */
  addRateLimited(key: K): number;
  /** The key is done, or given up: the limiter counts anew. Does not take the key out of the queue. */
  forget(key: K): void;
  /** How often the key was added rate limited since it was last forgotten. */
  numRequeues(key: K): number;
}

/** How a key is added to a {@link PriorityQueue}. */
export interface AddOptions {
  /** Not before this time, in milliseconds. @defaultValue 0 */
  readonly afterMs?: number | undefined;
  /** Not before the rate limiter allows; with `afterMs`, the earlier of both. @defaultValue false */
  readonly rateLimited?: boolean | undefined;
  /** Higher goes first. @defaultValue 0 */
  readonly priority?: number | undefined;
}

/**
 * A queue in which urgent keys overtake. A key that is added again keeps its highest priority and its earliest
 * time.
 *
 * client-go has none; controller-runtime: pkg/controller/priorityqueue
 */
export interface PriorityQueue<K = string> extends RateLimitingQueue<K> {
  /** Adds the key. Returns the wait in milliseconds. */
  addWithOptions(key: K, options: AddOptions): number;
  /** The priority of a key that is queued, waiting or with a worker; `undefined` for others. */
  priorityOf(key: K): number | undefined;
}
