/**
 * The interfaces of the work queues. Keys wait in a queue between the code that notices a change and the code that
 * processes it.
 */
import type { Observable } from 'rxjs';
import type { QueueMetrics } from './queue-metrics.ts';

/**
 * A queue of keys in which a key waits once, however often it is added, and is never given to two workers at the same
 * time. A key that is added while it is processed is queued again after `done`.
 *
 * client-go: util/workqueue/queue.go
 */
export interface WorkQueue<K = string> {
  readonly name: string;
  /** Adds a key. Has no effect on a key that is already queued, or after `shutDown`. */
  add(key: K): void;
  /** Resolves with the next key when one is ready, or with `undefined` once the queue is shut down and empty. */
  get(): Promise<K | undefined>;
  /** Returns the next key, or `undefined` if none is ready. */
  tryGet(): K | undefined;
  /** Marks a key from `get` or `tryGet` as processed. Must be called for each, also if processing failed. */
  done(key: K): void;
  /** The number of keys that are ready for a worker. */
  readonly len: number;
  /** The number of keys that are being processed. */
  readonly processing: number;
  /** The number of keys that are added later, at a time that has not come yet. */
  readonly waiting: number;
  readonly shuttingDown: boolean;
  /** Refuses further keys and drops delayed ones. Queued keys are still given to workers. */
  shutDown(): void;
  /** Like `shutDown`, and resolves when all queued keys are done. A later call of `shutDown` resolves it immediately. */
  shutDownWithDrain(): Promise<void>;
  /**
   * Resolves when no key is queued or being processed; with `delayed`, when no key waits for its time either. It refuses no
   * keys. `shutDown` does not resolve it, because queued keys are still to be processed.
   */
  drain(options?: { readonly delayed?: boolean }): Promise<void>;
  /** How long a key that is being processed waited in the queue before, in milliseconds; 0 for any other key. */
  queuedMs(key: K): number;
  /** Emits when a key is ready or the state of the queue may have changed. Call `tryGet` until it returns `undefined`. */
  readonly ready$: Observable<void>;
  /** The current metrics. */
  readonly metrics: QueueMetrics;
  /**
   * Emits the current metrics on subscription, then at most every half second and only if they changed. Completes when the queue
   * is shut down and every key is done.
   */
  readonly metrics$: Observable<QueueMetrics>;
}

/**
 * A queue that can add a key at a later time.
 *
 * client-go: util/workqueue/delaying_queue.go
 */
export interface DelayingQueue<K = string> extends WorkQueue<K> {
  /** Adds the key after `delayMs`, in milliseconds; immediately for 0 or less. Of two times for one key the earlier counts. */
  addAfter(key: K, delayMs: number): void;
  /** Cancels a delayed add and returns whether there was one. A key that is already queued stays queued. */
  cancelAfter(key: K): boolean;
}

/**
 * A queue that determines how long a failing key waits before its next attempt.
 *
 * client-go: util/workqueue/rate_limiting_queue.go
 */
export interface RateLimitingQueue<K = string> extends DelayingQueue<K> {
  /** Adds the key after the wait that the rate limiter returns. Returns that wait, in milliseconds. */
  addRateLimited(key: K): number;
  /** Resets the failure count of a key that is done or given up. Does not remove the key from the queue. */
  forget(key: K): void;
  /** How often `addRateLimited` was called for the key since it was last forgotten. */
  numRequeues(key: K): number;
}

/** How a key is added to a {@link PriorityQueue}. */
export interface AddOptions {
  /** The earliest time to give out the key, in milliseconds from now. @defaultValue 0 */
  readonly afterMs?: number | undefined;
  /** Waits as long as the rate limiter returns; with `afterMs`, the shorter of both waits. @defaultValue false */
  readonly rateLimited?: boolean | undefined;
  /** Keys with a higher priority are given out first. @defaultValue 0 */
  readonly priority?: number | undefined;
}

/**
 * A queue in which keys of higher priority overtake others. A key that is added again keeps its highest priority and its
 * earliest time.
 *
 * client-go has none; controller-runtime: pkg/controller/priorityqueue
 */
export interface PriorityQueue<K = string> extends RateLimitingQueue<K> {
  /** Adds the key. Returns how long it waits, in milliseconds. */
  addWithOptions(key: K, options: AddOptions): number;
  /** The priority of a key that is queued, delayed or being processed; `undefined` for any other key. */
  priorityOf(key: K): number | undefined;
}
