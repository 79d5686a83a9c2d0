/**
 * The interfaces of the work queues. Keys wait in a queue between the code that notices a change and the code that
 * processes it, in the order of a backlog.
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

/**
 * Holds the ready keys of a queue and decides which one is next. The queue never pushes a key that is already in its backlog.
 *
 * client-go: workqueue.Queue
 */
export interface Backlog<K = string> {
  readonly len: number;
  push(key: K): void;
  /** Only called when `len` is over 0. */
  pop(): K;
  /** Called when a key that is already in the backlog is added again. */
  touch?(key: K): void;
}

/** The least number of popped items for which the array is trimmed: an array of its own for each item would be garbage. */
const TRIM = 64;

/** First in, first out. It keeps no reference to an item that was popped. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get len(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  pop(): T {
    const item = this.#items[this.#head] as T;
    this.#items[this.#head] = undefined;
    this.#head += 1;
    // Moves an index and trims the array occasionally, because shift() on a long array moves every element.
    if (this.#head >= TRIM && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}

/** A valid key is a non-empty string. */
export function isKey(key: unknown): key is string {
  return typeof key === 'string' && key !== '';
}

/** Describes an invalid key in an error. The content of an object is not shown, because it may be secret. */
export function shownKey(key: unknown): string {
  if (typeof key === 'string') return `'${key}'`;
  const hasContent = typeof key === 'object' || typeof key === 'function';
  return hasContent && key !== null ? `a value of type ${typeof key}` : String(key);
}
