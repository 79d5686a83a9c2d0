/**
 * Rate limiters: how long a key waits before its next attempt. Times are in milliseconds. client-go:
 * util/workqueue/default_rate_limiters.go, with the same names.
 */
import { checkedDuration, checkedRate, checkedTimes } from '../checks/checked-option.ts';
import { type Timing, timingOf } from '../rx/timing.ts';
import { tokenReservations } from '../rx/token-bucket.ts';

/** Determines how long a key waits. A rate limiter schedules nothing itself. */
export interface RateLimiter<K = string> {
  /** Returns the wait before the next attempt of this key, in milliseconds. Each call counts as one attempt. */
  when(key: K): number;
  /** Resets the count of a key that is done or given up. */
  forget(key: K): void;
  /** How often `when` was called for the key since it was last forgotten. */
  numRequeues(key: K): number;
}

/** Counts attempts by key. `waitMs` receives the number of earlier attempts. */
function counting<K>(waitMs: (before: number) => number): RateLimiter<K> {
  const tries = new Map<K, number>();
  return {
    when: (key) => {
      const before = tries.get(key) ?? 0;
      tries.set(key, before + 1);
      return waitMs(before);
    },
    forget: (key) => {
      tries.delete(key);
    },
    numRequeues: (key) => tries.get(key) ?? 0,
  };
}

/**
 * Creates a limiter whose wait starts at `baseMs` and doubles with each attempt of a key, up to `maxMs`, both in milliseconds.
 * Throws a `TypeError` if one of them is not a valid duration.
 *
 * client-go: workqueue.NewTypedItemExponentialFailureRateLimiter
 *
 * @example
 * ```ts
 * import { itemExponentialFailureRateLimiter } from 'rx-informer';
 *
 * const limiter = itemExponentialFailureRateLimiter({ baseMs: 1, maxMs: 1000 });
 * [1, 2, 3].map(() => limiter.when('default/web')); // => [1, 2, 4]
 * limiter.numRequeues('default/web'); // => 3
 * limiter.forget('default/web');
 * limiter.when('default/web'); // => 1
 * ```
 */
export function itemExponentialFailureRateLimiter<K = string>(options: {
  readonly baseMs: number;
  readonly maxMs: number;
}): RateLimiter<K> {
  const baseMs = checkedDuration(options.baseMs, 'itemExponentialFailureRateLimiter: baseMs');
  const maxMs = checkedDuration(options.maxMs, 'itemExponentialFailureRateLimiter: maxMs');
  // 2 ** 2000 is Infinity, and 0 × Infinity would be NaN.
  return counting((before) => Math.min(maxMs, baseMs * 2 ** Math.min(before, 1000)));
}

/**
 * Creates a limiter that returns `fastMs` for the first `maxFastAttempts` attempts of a key and `slowMs` for later ones, both
 * in milliseconds. Throws a `TypeError` if an option is not a valid number.
 *
 * client-go: workqueue.NewTypedItemFastSlowRateLimiter
 *
 * @example
 * ```ts
 * import { itemFastSlowRateLimiter } from 'rx-informer';
 *
 * const limiter = itemFastSlowRateLimiter({ fastMs: 5, slowMs: 10_000, maxFastAttempts: 2 });
 * [1, 2, 3].map(() => limiter.when('default/web')); // => [5, 5, 10000]
 * ```
 */
export function itemFastSlowRateLimiter<K = string>(options: {
  readonly fastMs: number;
  readonly slowMs: number;
  readonly maxFastAttempts: number;
}): RateLimiter<K> {
  const name = 'itemFastSlowRateLimiter';
  const fastMs = checkedDuration(options.fastMs, `${name}: fastMs`);
  const slowMs = checkedDuration(options.slowMs, `${name}: slowMs`);
  const maxFastAttempts = checkedTimes(options.maxFastAttempts, `${name}: maxFastAttempts`);
  return counting((before) => (before < maxFastAttempts ? fastMs : slowMs));
}

/**
 * Creates a limiter with one token bucket for all keys: `qps` attempts per second, with a burst of `burst`. It counts no
 * attempts by key. Throws a `TypeError` if an option is not a valid number.
 *
 * client-go: workqueue.TypedBucketRateLimiter
 *
 * @example
 * ```ts
 * import { bucketRateLimiter } from 'rx-informer';
 * import { VirtualTimeScheduler } from 'rxjs';
 *
 * const limiter = bucketRateLimiter({ qps: 10, burst: 2, scheduler: new VirtualTimeScheduler() });
 * ['a', 'b', 'c', 'd'].map((key) => limiter.when(key)); // => [0, 0, 100, 200]
 * ```
 */
export function bucketRateLimiter<K = string>(
  options: { readonly qps: number; readonly burst: number } & Pick<Timing, 'scheduler'>,
): RateLimiter<K> {
  const qps = checkedRate(options.qps, 'bucketRateLimiter: qps');
  const burst = checkedTimes(options.burst, 'bucketRateLimiter: burst');
  const reserve = tokenReservations({ qps, burst, scheduler: timingOf(options).scheduler });
  return { when: reserve, forget: () => undefined, numRequeues: () => 0 };
}

/**
 * Creates a limiter that returns the longest wait of several limiters. Every limiter is called each time, so that each keeps
 * its count.
 *
 * client-go: workqueue.NewTypedMaxOfRateLimiter
 *
 * @example
 * ```ts
 * import { itemExponentialFailureRateLimiter, itemFastSlowRateLimiter, maxOfRateLimiter } from 'rx-informer';
 *
 * const limiter = maxOfRateLimiter(
 *   itemExponentialFailureRateLimiter({ baseMs: 1, maxMs: 1000 }),
 *   itemFastSlowRateLimiter({ fastMs: 3, slowMs: 500, maxFastAttempts: 3 }),
 * );
 * [1, 2, 3, 4].map(() => limiter.when('default/web')); // => [3, 3, 4, 500]
 * ```
 */
export function maxOfRateLimiter<K = string>(
  ...limiters: readonly RateLimiter<K>[]
): RateLimiter<K> {
  return {
    when: (key) => Math.max(0, ...limiters.map((limiter) => limiter.when(key))),
    forget: (key) => {
      for (const limiter of limiters) limiter.forget(key);
    },
    numRequeues: (key) => Math.max(0, ...limiters.map((limiter) => limiter.numRequeues(key))),
  };
}

/**
 * Creates a limiter that returns the wait of another limiter, but at most `maxMs`, in milliseconds. Throws a `TypeError` if
 * `maxMs` is not a valid duration.
 *
 * client-go: workqueue.NewTypedWithMaxWaitRateLimiter
 *
 * @example
 * ```ts
 * import { defaultItemBasedRateLimiter, withMaxWaitRateLimiter } from 'rx-informer';
 *
 * const limiter = withMaxWaitRateLimiter(defaultItemBasedRateLimiter(), { maxMs: 3 });
 * [1, 2, 3].map(() => limiter.when('default/web')); // => [1, 2, 3]
 * ```
 */
export function withMaxWaitRateLimiter<K = string>(
  limiter: RateLimiter<K>,
  options: { readonly maxMs: number },
): RateLimiter<K> {
  const maxMs = checkedDuration(options.maxMs, 'withMaxWaitRateLimiter: maxMs');
  return {
    when: (key) => Math.min(maxMs, limiter.when(key)),
    forget: (key) => limiter.forget(key),
    numRequeues: (key) => limiter.numRequeues(key),
  };
}

/**
 * Creates the default limiter of `createRateLimitingQueue`: 5 ms to 1000 s per key, and 10 attempts per second (with a burst of 100) for
 * all keys together.
 *
 * client-go: workqueue.DefaultTypedControllerRateLimiter
 *
 * @example
 * ```ts
 * import { defaultControllerRateLimiter } from 'rx-informer';
 *
 * const limiter = defaultControllerRateLimiter();
 * [1, 2, 3].map(() => limiter.when('default/web')); // => [5, 10, 20]
 * ```
 */
export function defaultControllerRateLimiter<K = string>(
  options: Pick<Timing, 'scheduler'> = {},
): RateLimiter<K> {
  return maxOfRateLimiter<K>(
    itemExponentialFailureRateLimiter({ baseMs: 5, maxMs: 1_000_000 }),
    bucketRateLimiter({ ...options, qps: 10, burst: 100 }),
  );
}

/**
 * Creates a limiter whose wait doubles with each attempt of a key, from 1 ms to 1000 s.
 *
 * client-go: workqueue.DefaultTypedItemBasedRateLimiter
 *
 * @example
 * ```ts
 * import { defaultItemBasedRateLimiter } from 'rx-informer';
 *
 * const limiter = defaultItemBasedRateLimiter();
 * [1, 2, 3].map(() => limiter.when('default/web')); // => [1, 2, 4]
 * ```
 */
export function defaultItemBasedRateLimiter<K = string>(): RateLimiter<K> {
  return itemExponentialFailureRateLimiter({ baseMs: 1, maxMs: 1_000_000 });
}
