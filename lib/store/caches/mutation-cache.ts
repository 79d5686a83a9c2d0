/**
 * `createMutationCache`, a view of a store that includes the client's own writes: the response of a write is shown
 * until the store has received the write, too. The cache has no timer; stale entries are removed when they are read.
 * client-go: tools/cache/mutation_cache.go.
 */
import { asyncScheduler, type Observable, type SchedulerLike, type Subscription } from 'rxjs';
import { checkedTimeout, checkedWholeLimit } from '../../checks/checked-option.ts';
import { type KubernetesObject, type Stored, uidOf } from '../../meta/kubernetes-object.ts';
import { compareResourceVersion, isOlder } from '../../meta/resource-version.ts';
import { bindMethods } from '../../rx/bind-methods.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import type { ChangeSet } from '../change-set.ts';
import { indexValues } from '../index-table.ts';
import type { IndexerReader } from '../indexer.ts';
import { defaultMutationGuard, guardObject, type MutationGuard } from '../mutation-guard.ts';

/** The options of {@link createMutationCache}. */
export interface MutationCacheOptions {
  /** How long a write is kept, in milliseconds, more than 0. @defaultValue 300000 */
  readonly ttlMs?: number | undefined;
  /**
   * The maximum number of writes, and separately of deletions, that are kept. The least recently used write and the
   * oldest deletion are evicted first. @defaultValue 100
   */
  readonly size?: number | undefined;
  /**
   * Whether to show a written object whose key is not in the store. If the store has no version, because no informer
   * fills it, an object whose creation and deletion it has missed is shown until `ttlMs` has passed.
   * @defaultValue false
   */
  readonly includeAdds?: boolean | undefined;
  /**
   * Whether written objects are frozen.
   * @defaultValue 'off' if NODE_ENV is 'production', otherwise 'freeze', also if NODE_ENV is not set
   */
  readonly mutationGuard?: MutationGuard | undefined;
  /** The clock; only its `now()` is called. @defaultValue `asyncScheduler` of RxJS */
  readonly scheduler?: SchedulerLike | undefined;
}

/**
 * A view of a store that includes the client's own writes. Returned objects are shared: do not change them. If versions
 * cannot be compared, the stored object takes precedence over the write.
 */
export interface MutationCache<T> {
  /** Returns the newer of the stored and the written object. */
  getByKey(key: string): Stored<T> | undefined;
  /**
   * Returns the objects with this index value, as if the objects that {@link getByKey} returns were indexed. If no
   * write affects the result, it is the array of the store. If the index function throws for a written object, the
   * stored object is used. Throws a `TypeError` for an unknown index.
   */
  byIndex(indexName: string, value: string): readonly Stored<T>[];
  /**
   * Adds the response of a write, unless it is older than an earlier response, the store has it already, or the object
   * is known to be deleted. Throws errors of the store's key function.
   */
  mutation(object: T): void;
  /** Call when the store has received this object. A response that is not newer is dropped. */
  onAddOrUpdate(object: T): void;
  /**
   * Call when this object was deleted, with its last known state. A response with the same UID, or one that is not
   * newer, is dropped, also if it arrives later.
   */
  onDelete(object: T): void;
  /**
   * Calls {@link onAddOrUpdate} and {@link onDelete} for all changes of `changes$`, for example those of an informer,
   * until the returned subscription is unsubscribed. Subscribing to the changes of an informer starts it.
   */
  connect(changes$: Observable<ChangeSet<T>>): Subscription;
}

/** The identity and the version of an object. */
interface Version {
  readonly uid: string;
  readonly resourceVersion: string;
}

interface Written<T> extends Version {
  readonly object: Stored<T>;
  /** The version of the store at the time of the write. */
  readonly storeVersion: string;
}

function versionOf(object: KubernetesObject): Version {
  return { uid: uidOf(object), resourceVersion: object.metadata?.resourceVersion ?? '' };
}

/**
 * A map with a size limit and a time to live per entry. It evicts the least recently used entry when it is full: the
 * first of its `Map`, which keeps the order of insertion.
 */
class RecentValues<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly untilMs: number }>();
  readonly #size: number;
  readonly #ttlMs: number;
  readonly #passedMs: () => number;

  constructor(size: number, ttlMs: number, scheduler: SchedulerLike) {
    this.#size = size;
    this.#ttlMs = ttlMs;
    this.#passedMs = stopwatch(scheduler);
  }

  keys(): readonly string[] {
    return [...this.#entries.keys()];
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (this.#passedMs() <= entry.untilMs) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** Marks an entry as the most recently used. */
  touch(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }

  set(key: string, value: V): void {
    this.#entries.delete(key);
    if (this.#entries.size >= this.#size) {
      for (const oldest of this.#entries.keys()) {
        this.#entries.delete(oldest);
        break;
      }
    }
    this.#entries.set(key, { value, untilMs: this.#passedMs() + this.#ttlMs });
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}

class OwnWrites<T extends KubernetesObject> implements MutationCache<T> {
  readonly #store: IndexerReader<T>;
  readonly #includeAdds: boolean;
  readonly #guard: MutationGuard;
  readonly #written: RecentValues<Written<T>>;
  /** Separate from the writes, so that a burst of deletions does not evict writes. */
  readonly #tombstones: RecentValues<Version>;

  constructor(store: IndexerReader<T>, options: MutationCacheOptions) {
    const { ttlMs = 300_000, size = 100, scheduler = asyncScheduler } = options;
    checkedTimeout(ttlMs, 'createMutationCache: ttlMs');
    checkedWholeLimit(size, 'createMutationCache: size');
    this.#store = store;
    this.#includeAdds = options.includeAdds ?? false;
    this.#guard = options.mutationGuard ?? defaultMutationGuard();
    this.#written = new RecentValues(size, ttlMs, scheduler);
    this.#tombstones = new RecentValues(size, ttlMs, scheduler);
    bindMethods(this);
  }

  getByKey(key: string): Stored<T> | undefined {
    const object = this.#currentWrite(key);
    if (object === undefined) return this.#store.getByKey(key);
    this.#written.touch(key);
    return object;
  }

  byIndex(indexName: string, value: string): readonly Stored<T>[] {
    const stored = this.#store.byIndex(indexName, value);
    const func = this.#store.getIndexers()[indexName];
    let merged: Map<string, Stored<T>> | undefined;
    for (const key of this.#written.keys()) {
      const object = this.#currentWrite(key);
      if (object === undefined || func === undefined) continue;
      let values: readonly string[];
      try {
        values = indexValues(func, object, indexName);
      } catch {
        continue;
      }
      merged ??= new Map(stored.map((each) => [this.#store.keyOf(each), each]));
      if (values.includes(value)) {
        merged.set(key, object);
        this.#written.touch(key);
      } else merged.delete(key);
    }
    return merged === undefined ? stored : [...merged.values()];
  }

  mutation(object: T): void {
    const key = this.#store.keyOf(object);
    const version = versionOf(object);
    const { uid, resourceVersion } = version;
    const written = this.#written.get(key);
    if (written !== undefined && isOlder(resourceVersion, written.resourceVersion)) return;
    const tombstone = this.#tombstones.get(key);
    if (tombstone !== undefined) {
      if (tombstone.uid === uid || tombstone.resourceVersion === resourceVersion) return;
      if (isOlder(resourceVersion, tombstone.resourceVersion)) return;
    }
    if (this.#isPassed(key, version)) return;
    this.#written.set(key, {
      object: guardObject(object as Stored<T>, this.#guard),
      ...version,
      storeVersion: this.#store.resourceVersion,
    });
  }

  onAddOrUpdate(object: T): void {
    const key = this.#store.keyOf(object);
    const { resourceVersion } = versionOf(object);
    for (const known of [this.#written, this.#tombstones]) {
      const version = known.get(key);
      if (version === undefined || isOlder(resourceVersion, version.resourceVersion)) continue;
      known.delete(key);
    }
  }

  onDelete(object: T): void {
    const key = this.#store.keyOf(object);
    const version = versionOf(object);
    const written = this.#written.get(key);
    if (written !== undefined && written.uid !== version.uid) {
      // The written object is another, newer one, which may still exist.
      if (isOlder(version.resourceVersion, written.resourceVersion)) return;
    }
    this.#written.delete(key);
    const tombstone = this.#tombstones.get(key);
    if (tombstone !== undefined && isOlder(version.resourceVersion, tombstone.resourceVersion)) {
      return;
    }
    this.#tombstones.set(key, version);
  }

  connect(changes$: Observable<ChangeSet<T>>): Subscription {
    return changes$.subscribe(({ changes }) => {
      for (const { object, last, previous } of changes) {
        const ended = last ?? previous;
        if (object !== undefined) this.onAddOrUpdate(object);
        else if (ended !== undefined) this.onDelete(ended);
      }
    });
  }

  /** The written object, if it is newer than the store and may be shown. */
  #currentWrite(key: string): Stored<T> | undefined {
    const written = this.#written.get(key);
    if (written === undefined) return undefined;
    // A store goes back if the server was restored, which may have lost the write.
    const wentBack = isOlder(this.#store.resourceVersion, written.storeVersion);
    if (wentBack || this.#isPassed(key, written)) {
      this.#written.delete(key);
      return undefined;
    }
    return this.#includeAdds || this.#store.has(key) ? written.object : undefined;
  }

  /**
   * Whether the store is as new as this version: it holds a state as new, or has received everything up to the version,
   * such as the deletion. It may then hold an older state, if a restored server has lost the write.
   */
  #isPassed(key: string, { resourceVersion }: Version): boolean {
    const stored = this.#store.getByKey(key);
    const isStored =
      stored !== undefined && !isOlder(versionOf(stored).resourceVersion, resourceVersion);
    if (isStored) return true;
    // The version of the store says nothing about an object that it refused.
    if (!this.#store.synced || this.#store.refused.get(key) !== undefined) return false;
    return (compareResourceVersion(this.#store.resourceVersion, resourceVersion) ?? -1) >= 0;
  }
}

/**
 * Creates a view of a store that includes the client's own writes, so that a reader does not see a state older than its
 * own write.
 *
 * A write is dropped when the store is as new, when {@link MutationCache.connect} or the caller reports so, when
 * `ttlMs` has passed, or when too many other writes were used since. A read therefore always returns a state that the
 * server has had, but not always the written one. Throws a `TypeError` if `ttlMs` or `size` is not a valid number. Only
 * the subscription that `connect` returns needs to be disposed of.
 *
 * @example
 * ```ts
 * import { createIndexer, createMutationCache } from 'rx-informer';
 *
 * const web = (resourceVersion: string) => ({
 *   metadata: { name: 'web', uid: 'u1', resourceVersion },
 * });
 * const indexer = createIndexer();
 * indexer.add(web('5'));
 * const cache = createMutationCache(indexer);
 * cache.mutation(web('7')); // the response of an update
 * cache.getByKey('web')?.metadata?.resourceVersion; // => '7'
 * indexer.add(web('8')); // the watch has delivered a newer state
 * cache.getByKey('web')?.metadata?.resourceVersion; // => '8'
 * ```
 */
export function createMutationCache<T extends KubernetesObject>(
  indexer: IndexerReader<T>,
  options: MutationCacheOptions = {},
): MutationCache<T> {
  return new OwnWrites<T>(indexer, options);
}
