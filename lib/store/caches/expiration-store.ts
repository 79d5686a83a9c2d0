/**
 * `createExpirationStore`, a store whose objects expire. Readers do not see an expired object; reading removes it. The
 * store has no timer, so an expired object stays in memory until it is read. client-go:
 * tools/cache/expiration_cache.go.
 */
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { checkedRate } from '../../checks/checked-option.ts';
import type { KeyFunc } from '../../meta/key.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { bindMethods } from '../../rx/bind-methods.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import type { EpochMs } from '../../rx/timing.ts';
import { createIndexer } from '../create-indexer.ts';
import type { Indexer, IndexerOptions } from '../indexer.ts';

/** An object and the time of its last write. client-go: TimestampedEntry. */
export interface TimestampedEntry<T> {
  readonly key: string;
  readonly object: T;
  /** The time of the write by the clock of the store's scheduler, in milliseconds. */
  readonly writtenMs: EpochMs;
}

/**
 * Returns whether an entry has expired at `nowMs`. `nowMs - entry.writtenMs` is its age in milliseconds, also if the
 * clock was set back since the write.
 */
export type ExpirationPolicy<T> = (entry: TimestampedEntry<T>, nowMs: EpochMs) => boolean;

/** The options of {@link createExpirationStore}: a time to live or a custom policy, and the options of a store. */
export type ExpirationStoreOptions<T> = IndexerOptions<T> & {
  /** The clock; only its `now()` is called. @defaultValue `asyncScheduler` of RxJS */
  readonly scheduler?: SchedulerLike | undefined;
} & (
    | {
        /** How long an object can be read after it was written, in milliseconds. 0 or less means for ever. */
        readonly ttlMs: number;
        readonly policy?: never;
      }
    | {
        readonly ttlMs?: never;
        /** Decides which entries have expired. Reads throw an error that it throws. */
        readonly policy: ExpirationPolicy<T>;
      }
  );

/**
 * A store whose objects expire. Every read that returns objects first removes those that have expired. Returned objects
 * and arrays are shared: do not change them.
 */
export interface ExpirationStore<T> {
  /** The number of keys that {@link listKeys} returns, including those of expired objects. */
  readonly size: number;
  readonly keyOf: KeyFunc<T>;
  /** Returns the object with this key, or with the key of this object; `undefined` if it is missing or expired. */
  get(target: string | T): T | undefined;
  getByKey(key: string): T | undefined;
  has(key: string): boolean;
  /** Returns all objects that have not expired; the same array until the store changes. */
  list(): readonly T[];
  /** Returns all keys, including those of expired objects that have not been read since. */
  listKeys(): readonly string[];
  /** Returns the objects with this index value that have not expired. Throws a `TypeError` for an unknown index. */
  byIndex(indexName: string, value: string): readonly T[];
  /** Stores an object, new or not, and starts its time to live. Throws errors of the key and index functions. */
  add(object: T): void;
  /** The same as `add`: the time to live starts again. */
  update(object: T): void;
  delete(object: T | string): void;
  /**
   * Replaces the complete contents; all times to live start now. If a key or index function throws, the error is thrown
   * before anything changes.
   */
  replace(objects: readonly T[]): void;
}

/**
 * Creates a policy by which an object expires `ttlMs` milliseconds after it was written; with 0 or less it never
 * expires. Throws a `TypeError` if `ttlMs` is not a number.
 */
export function ttlPolicy(ttlMs: number): ExpirationPolicy<unknown> {
  checkedRate(ttlMs, 'ttlPolicy: ttlMs');
  return (entry, nowMs) => ttlMs > 0 && nowMs - entry.writtenMs > ttlMs;
}

/** The time of a write, by the clock and by the stopwatch, in milliseconds. */
interface Written {
  readonly writtenMs: number;
  readonly passedMs: number;
}

class LazilyPurged<T extends object> implements ExpirationStore<T> {
  readonly #store: Indexer<T>;
  readonly #written = new Map<string, Written>();
  readonly #isExpired: ExpirationPolicy<T>;
  readonly #scheduler: SchedulerLike;
  readonly #passedMs: () => number;

  constructor(options: ExpirationStoreOptions<T>) {
    this.#store = createIndexer(options);
    this.#isExpired = options.policy ?? ttlPolicy(options.ttlMs);
    this.#scheduler = options.scheduler ?? asyncScheduler;
    this.#passedMs = stopwatch(this.#scheduler);
    bindMethods(this);
  }

  get size(): number {
    return this.#store.size;
  }

  get keyOf(): KeyFunc<T> {
    return this.#store.keyOf;
  }

  get(target: string | T): T | undefined {
    return this.getByKey(this.#keyOf(target));
  }

  getByKey(key: string): T | undefined {
    const object = this.#store.getByKey(key);
    const written = this.#written.get(key);
    if (object === undefined || written === undefined) return undefined;
    const { writtenMs, passedMs } = written;
    const nowMs = writtenMs + this.#passedMs() - passedMs;
    if (!this.#isExpired({ key, object, writtenMs }, nowMs)) return object;
    this.delete(key);
    return undefined;
  }

  has(key: string): boolean {
    return this.getByKey(key) !== undefined;
  }

  list(): readonly T[] {
    for (const key of this.#store.listKeys()) this.getByKey(key);
    return this.#store.list();
  }

  listKeys(): readonly string[] {
    return this.#store.listKeys();
  }

  byIndex(indexName: string, value: string): readonly T[] {
    for (const key of this.#store.indexKeys(indexName, value)) this.getByKey(key);
    return this.#store.byIndex(indexName, value);
  }

  add(object: T): void {
    const key = this.keyOf(object);
    this.#store.transaction((transaction) => transaction.put(object, key));
    this.#written.set(key, this.#now());
  }

  update(object: T): void {
    this.add(object);
  }

  delete(object: T | string): void {
    const key = this.#keyOf(object);
    this.#store.delete(key);
    this.#written.delete(key);
  }

  replace(objects: readonly T[]): void {
    this.#store.replace(objects);
    this.#written.clear();
    const now = this.#now();
    for (const key of this.#store.keys()) this.#written.set(key, now);
  }

  #keyOf(target: T | string): string {
    return typeof target === 'string' ? target : this.keyOf(target);
  }

  #now(): Written {
    return { writtenMs: this.#scheduler.now(), passedMs: this.#passedMs() };
  }
}

/**
 * Creates a store whose objects expire, for values that are costly to request and soon stale, such as a response of
 * another API or a failed lookup.
 *
 * An object that is exactly `ttlMs` old can still be read. Expired objects are removed when they are read, so the store
 * needs no disposal. Throws a `TypeError` if `ttlMs` is not a number.
 *
 * @example
 * ```ts
 * import { createExpirationStore } from 'rx-informer';
 * import { VirtualTimeScheduler } from 'rxjs';
 *
 * const scheduler = new VirtualTimeScheduler();
 * const store = createExpirationStore({ ttlMs: 30_000, scheduler });
 * store.add({ metadata: { name: 'web' } });
 * scheduler.frame = 30_000;
 * store.has('web'); // => true
 * scheduler.frame = 30_001;
 * store.listKeys(); // => ['web']
 * store.list(); // => []
 * store.listKeys(); // => []
 * ```
 */
export function createExpirationStore<T extends object = KubernetesObject>(
  options: ExpirationStoreOptions<T>,
): ExpirationStore<T> {
  return new LazilyPurged<T>(options);
}
