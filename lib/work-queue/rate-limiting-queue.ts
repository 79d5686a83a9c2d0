/**
 * A queue with a rate limiter, so that a worker need not know how long a failed key waits.
 * client-go: util/workqueue/rate_limiting_queue.go
 */
import { DelayingKeyQueue } from './delaying-queue.ts';
import type { QueueOptions } from './key-queue.ts';
import { defaultControllerRateLimiter, type RateLimiter } from './rate-limiter.ts';
import { type Backlog, Fifo, type RateLimitingQueue } from './work-queue.ts';

/** Options of {@link createRateLimitingQueue}. */
export interface RateLimitingQueueOptions<K = string> extends QueueOptions {
  /** Determines the wait of `addRateLimited`. @defaultValue `defaultControllerRateLimiter()` */
  readonly rateLimiter?: RateLimiter<K> | undefined;
}

/** A queue with delayed adds, and a rate limiter that determines the delay. */
export class RateLimitingKeyQueue<K> extends DelayingKeyQueue<K> implements RateLimitingQueue<K> {
  readonly limiter: RateLimiter<K>;

  constructor(options: RateLimitingQueueOptions<K>, backlog: Backlog<K>, limiter: RateLimiter<K>) {
    super(options, backlog);
    this.limiter = limiter;
  }

  addRateLimited(key: K): number {
    const waitMs = this.limiter.when(key);
    this.addAfter(key, waitMs);
    return waitMs;
  }

  forget(key: K): void {
    this.limiter.forget(key);
  }

  numRequeues(key: K): number {
    return this.limiter.numRequeues(key);
  }
}

/** The rate limiter of these options, or the default one on their scheduler. */
export function limiterOf<K>(options: RateLimitingQueueOptions<K>): RateLimiter<K> {
  const { rateLimiter, scheduler } = options;
  return (
    rateLimiter ?? defaultControllerRateLimiter<K>(scheduler === undefined ? {} : { scheduler })
  );
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
  return new RateLimitingKeyQueue<K>(options, new Fifo<K>(), limiterOf(options));
}
