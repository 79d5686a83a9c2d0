/**
 * A store that forgets: what was written long enough ago is gone for whoever asks. It has no timer, so an object
 * that nobody asks for stays in memory. client-go: tools/cache/expiration_cache.go.
 */

import { asyncScheduler, type SchedulerLike } from 'rxjs';
import type { KeyFunc } from '../meta/key.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { bindMethods } from '../rx/bind-methods.ts';
import { checkedRate } from '../rx/checked-option.ts';
import type { EpochMs } from '../rx/epoch-ms.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { createIndexer, type Indexer, type IndexerOptions } from './indexer.ts';

/** An object and when it was last written. client-go: TimestampedEntry. */
export interface TimestampedEntry<T> {
  readonly key: string;
  readonly object: T;
  /** By the clock of the store's scheduler. */
  readonly writtenMs: EpochMs;
}

/**
 * Tells whether an entry is to be forgotten at `nowMs`. `nowMs - entry.writtenMs` is its age in milliseconds, also where
 * the clock was set back meanwhile.
 */
export type ExpirationPolicy<T> = (entry: TimestampedEntry<T>, nowMs: EpochMs) => boolean;

/** What {@link createExpirationStore} takes: a time to live or a policy of your own, and what a store takes. */
export type ExpirationStoreOptions<T> = IndexerOptions<T> & {
  /** Its `now()` is the only thing asked of it. @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
} & (
    | {
        /** How long an object is there after it was written, in milliseconds; 0 or less: for ever. */
        readonly ttlMs: number;
        readonly policy?: never;
      }
    | {
        readonly ttlMs?: never;
        /** What it throws, reads throw. */
        readonly policy: ExpirationPolicy<T>;
      }
  );

/**
 * A store whose objects expire. Every read that hands out objects first removes those that it finds expired.
 * Answers are shared: do not change them.
 */
export interface ExpirationStore<T> {
  /** Counts keys as {@link listKeys} gives them, expired ones too. */
  readonly size: number;
  readonly keyOf: KeyFunc<T>;
  /** By key, or the stored twin of an object. */
  get(target: string | T): T | undefined;
  getByKey(key: string): T | undefined;
  has(key: string): boolean;
  /** All objects that have not expired; the same array until something changes. */
  list(): readonly T[];
  /** All keys, also of objects that have expired and that nobody has asked for since. */
  listKeys(): readonly string[];
  /** Objects under a value that have not expired. Throws on an unknown index. */
  byIndex(indexName: string, value: string): readonly T[];
  /** Puts an object, new or not; its time begins. Throws what a key or index function throws. */
  add(object: T): void;
  /** As `add`: its time begins anew. */
  update(object: T): void;
  delete(object: T | string): void;
  /** Everything anew, all at one time. Throws before anything changes when one object cannot be keyed or indexed. */
  replace(objects: readonly T[]): void;
}

/** Forgets what was written more than `ttlMs` milliseconds ago; 0 or less forgets nothing. */
export function ttlPolicy(ttlMs: number): ExpirationPolicy<unknown> {
  checkedRate(ttlMs, 'ttlMs');
  return (entry, nowMs) => ttlMs > 0 && nowMs - entry.writtenMs > ttlMs;
}

/** When an object was written: the moment, and on the stopwatch. */
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
    return this.getByKey(typeof target === 'string' ? target : this.keyOf(target));
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
    const key = typeof object === 'string' ? object : this.keyOf(object);
    this.#store.delete(key);
    this.#written.delete(key);
  }

  replace(objects: readonly T[]): void {
    this.#store.replace(objects);
    this.#written.clear();
    const now = this.#now();
    for (const key of this.#store.keys()) this.#written.set(key, now);
  }

  #now(): Written {
    return { writtenMs: this.#scheduler.now(), passedMs: this.#passedMs() };
  }
}

/**
 * A store whose objects expire, for what is costly to ask for and soon out of date: an answer of another API, a
 * lookup that failed.
 *
 * An object that is exactly `ttlMs` old is still there. Expired objects are removed when they are asked for, so
 * there is nothing to stop or dispose of. Throws when an index name is taken.
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
