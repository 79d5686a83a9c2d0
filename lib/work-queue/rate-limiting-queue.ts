/**
 * A queue with a limiter, so that who works on a key need not know how long it should wait.
 * client-go: util/workqueue/rate_limiting_queue.go
 */
import { type Backlog, Fifo } from './backlog.ts';
import { DelayingKeyQueue } from './delaying-queue.ts';
import type { QueueOptions } from './key-queue.ts';
import { defaultControllerRateLimiter, type RateLimiter } from './rate-limiter.ts';
import type { RateLimitingQueue } from './work-queue.ts';

/** What {@link createRateLimitingQueue} takes. */
export interface RateLimitingQueueOptions<K = string> extends QueueOptions {
  /** @defaultValue `defaultControllerRateLimiter()` */
  readonly rateLimiter?: RateLimiter<K> | undefined;
}

/** A queue with delayed adds and a limiter that says how long the delay is. */
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

/** The limiter of these options, on their clock. */
export function limiterOf<K>(options: RateLimitingQueueOptions<K>): RateLimiter<K> {
  const { rateLimiter, scheduler } = options;
  return (
    rateLimiter ?? defaultControllerRateLimiter<K>(scheduler === undefined ? {} : { scheduler })
  );
}

/**
 * Makes a delaying queue that knows how long a failing key should wait: `addRateLimited` after a failure,
 * `forget` after a success.
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
