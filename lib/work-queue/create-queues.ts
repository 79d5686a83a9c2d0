/** The makers of queues: each gives the one queue the parts that its kind has. */
import { checkedDuration } from '../rx/checked-option.ts';
import { timingOf } from '../rx/timing.ts';
import { KeyQueue, type QueueOptions } from './key-queue.ts';
import { RankedBacklog } from './ranked-backlog.ts';
import {
  defaultControllerRateLimiter,
  itemExponentialFailureRateLimiter,
  type RateLimiter,
} from './rate-limiter.ts';
import type {
  Backlog,
  DelayingQueue,
  PriorityQueue,
  RateLimitingQueue,
  WorkQueue,
} from './work-queue.ts';

/** Options of {@link createWorkQueue}. */
export interface CreateWorkQueueOptions<K = string> extends QueueOptions {
  /** The order in which ready keys are given out. @defaultValue first in, first out */
  readonly backlog?: Backlog<K> | undefined;
}

/**
 * Creates a queue in which a key waits once, however often it is added, and is never given to two workers at the same time.
 *
 * Keys are compared as by a `Map`, so use strings such as `namespace/name`, not objects. No method throws. The queue holds a
 * timer only while `metrics$` has a subscriber.
 *
 * client-go: workqueue.NewTypedWithConfig
 *
 * @example
 * ```ts
 * import { createWorkQueue } from 'rx-informer';
 *
 * const queue = createWorkQueue();
 * for (const key of ['default/a', 'default/b', 'default/a']) queue.add(key);
 * queue.len; // => 2
 *
 * const worked: string[] = [];
 * queue.shutDown();
 * for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
 *   worked.push(key);
 *   queue.done(key);
 * }
 * worked; // => ['default/a', 'default/b']
 * ```
 */
export function createWorkQueue<K = string>(options: CreateWorkQueueOptions<K> = {}): WorkQueue<K> {
  return new KeyQueue<K>(options, { backlog: options.backlog });
}

/**
 * Creates a work queue that can add a key at a later time. Keys that are not due yet when the queue is shut down are
 * dropped. While a key waits, the queue holds one timer on its `scheduler`. Delays over 2^31 ms are waited in full.
 *
 * `addAfter` throws a `TypeError` for NaN.
 *
 * client-go: workqueue.NewTypedDelayingQueueWithConfig
 *
 * @example
 * ```ts
 * import { createDelayingQueue } from 'rx-informer';
 * import { VirtualTimeScheduler } from 'rxjs';
 *
 * const scheduler = new VirtualTimeScheduler();
 * const queue = createDelayingQueue({ scheduler });
 * queue.addAfter('default/web', 5000);
 * queue.addAfter('default/web', 200); // the earlier counts
 * queue.addAfter('default/db', 300);
 * queue.cancelAfter('default/db'); // => true
 * scheduler.flush();
 * [scheduler.now(), queue.tryGet(), queue.tryGet()]; // => [200, 'default/web', undefined]
 * ```
 */
export function createDelayingQueue<K = string>(options: QueueOptions = {}): DelayingQueue<K> {
  return new KeyQueue<K>(options);
}

/** Options of {@link createRateLimitingQueue}. */
export interface RateLimitingQueueOptions<K = string> extends QueueOptions {
  /** Determines the wait of `addRateLimited`. @defaultValue `defaultControllerRateLimiter()` */
  readonly rateLimiter?: RateLimiter<K> | undefined;
}

/** A queue with the rate limiter of these options, or with the default one on their scheduler. */
export function rateLimitingQueueOf<K>(options: RateLimitingQueueOptions<K>): KeyQueue<K> {
  const { scheduler, rateLimiter: limiter = defaultControllerRateLimiter<K>({ scheduler }) } =
    options;
  return new KeyQueue<K>(options, { limiter });
}

/**
 * Creates a delaying queue that determines how long a failing key waits. Call `addRateLimited` after a failure and `forget`
 * after a success.
 *
 * client-go: workqueue.NewTypedRateLimitingQueueWithConfig
 *
 * @example
 * ```ts
 * import { createRateLimitingQueue } from 'rx-informer';
 * import { VirtualTimeScheduler } from 'rxjs';
 *
 * const scheduler = new VirtualTimeScheduler();
 * const queue = createRateLimitingQueue({ scheduler });
 * queue.addRateLimited('default/web'); // => 5
 * scheduler.flush();
 * const key = queue.tryGet() ?? '';
 * queue.numRequeues(key); // => 1
 * queue.forget(key);
 * queue.done(key);
 * queue.numRequeues(key); // => 0
 * ```
 */
export function createRateLimitingQueue<K = string>(
  options: RateLimitingQueueOptions<K> = {},
): RateLimitingQueue<K> {
  return rateLimitingQueueOf(options);
}

// The values of controller-runtime.
const DEFAULT_LIMIT = { baseMs: 5, maxMs: 1_000_000 };

/** Options of {@link createPriorityQueue}. */
export interface PriorityQueueOptions<K = string> extends RateLimitingQueueOptions<K> {
  /**
   * A key that has been ready for this long, in milliseconds, gets every second turn whatever its priority, the oldest key
   * first. With Infinity a key of low priority can starve. @defaultValue 10000
   */
  readonly ageingMs?: number | undefined;
}

/** A queue with the rate limiter and the ageing of these options. */
export function priorityQueueOf<K>(options: PriorityQueueOptions<K>): KeyQueue<K> {
  const ageingMs = checkedDuration(options.ageingMs ?? 10_000, 'ageingMs');
  const ranks = new RankedBacklog<K>(timingOf(options).scheduler, ageingMs);
  const limiter = options.rateLimiter ?? itemExponentialFailureRateLimiter<K>(DEFAULT_LIMIT);
  return new KeyQueue<K>(options, { ranks, limiter });
}

/**
 * Creates a queue in which keys of higher priority are given out first, and keys of one priority in the order in which they
 * were added. A key that is added again keeps its highest priority and its earliest time. A key that is being processed is
 * skipped until `done`. The wait of the default rate limiter doubles from 5 ms to 1000 s per key; all keys together are not limited.
 *
 * No key starves: a key that has been ready for `ageingMs` gets every second turn.
 *
 * `addWithOptions` and `addAfter` throw a `TypeError` for NaN.
 *
 * client-go has none; controller-runtime: priorityqueue.New
 *
 * @example
 * ```ts
 * import { createPriorityQueue } from 'rx-informer';
 *
 * const queue = createPriorityQueue();
 * queue.addWithOptions('default/old', { priority: -100 });
 * queue.add('default/new');
 * queue.addWithOptions('default/urgent', { priority: 10 });
 * [queue.tryGet(), queue.tryGet(), queue.tryGet()]; // => ['default/urgent', 'default/new', 'default/old']
 * ```
 */
export function createPriorityQueue<K = string>(
  options: PriorityQueueOptions<K> = {},
): PriorityQueue<K> {
  return priorityQueueOf(options);
}
