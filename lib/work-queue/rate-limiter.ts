/**
 * How long a key waits before its next try. client-go: util/workqueue/default_rate_limiters.go, under the same
 * names; times are in milliseconds.
 */
import { checkedDuration, checkedRate, checkedTimes } from '../rx/checked-option.ts';
import { type Timing, timingOf } from '../rx/timing.ts';
import { tokenReservations } from '../rx/token-bucket.ts';

/** Says how long to wait; it schedules nothing itself. */
export interface RateLimiter<K = string> {
  /** The wait before the next try of this key, in milliseconds. Each call counts as one try. */
  when(key: K): number;
  /** The key is done, or given up: its count starts anew. */
  forget(key: K): void;
  /** How often `when` was called since the key was last forgotten. */
  numRequeues(key: K): number;
}

/** Counts tries by key; `waitMs` is asked with how many there were before this one. */
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
 * `baseMs`, doubled with each try of the key, up to `maxMs`.
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
  // 2 ** 2000 is Infinity, which the minimum takes; 0 × Infinity would be no number.
  return counting((before) => Math.min(maxMs, baseMs * 2 ** Math.min(before, 1000)));
}

/**
 * `fastMs` for the first `maxFastAttempts` tries of a key, `slowMs` for the others.
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
  const who = 'itemFastSlowRateLimiter';
  const fastMs = checkedDuration(options.fastMs, `${who}: fastMs`);
  const slowMs = checkedDuration(options.slowMs, `${who}: slowMs`);
  const maxFastAttempts = checkedTimes(options.maxFastAttempts, `${who}: maxFastAttempts`);
  return counting((before) => (before < maxFastAttempts ? fastMs : slowMs));
}

/**
 * One token bucket for all keys: `qps` tries a second, `burst` at once. It counts no key.
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
 * The longest wait of several limiters. All of them are asked, so that each keeps its count.
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
 * Another limiter's wait, but no more than `maxMs`.
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
 * What a controller uses unless told otherwise: 5 ms to 1000 s for each key, and 10 tries a second (100 at
 * once) for all keys together.
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
 * 1 ms to 1000 s, doubled with each try of the key.
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
