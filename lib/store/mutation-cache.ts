/**
 * Reads one's own writes: what the server answered to a write lies over the store until the store has it too. It
 * has no timer; what is out of date goes when it is met. client-go: tools/cache/mutation_cache.go.
 */

import { asyncScheduler, type Observable, type SchedulerLike, type Subscription } from 'rxjs';
import { type KubernetesObject, uidOf } from '../meta/kubernetes-object.ts';
import { compareResourceVersion, isOlder } from '../meta/resource-version.ts';
import type { Stored } from '../meta/stored.ts';
import { bindMethods } from '../rx/bind-methods.ts';
import { checkedTimeout, checkedWholeLimit } from '../rx/checked-option.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import type { ChangeSet } from './change-set.ts';
import { indexValues } from './index-table.ts';
import type { IndexerReader } from './indexer.ts';
import { defaultMutationGuard, guardObject, type MutationGuard } from './mutation-guard.ts';

/** What {@link createMutationCache} takes beside the store. */
export interface MutationCacheOptions {
  /** How long a write is remembered, in milliseconds, more than 0. @defaultValue 5 minutes */
  readonly ttlMs?: number | undefined;
  /** How many writes are remembered; the least recently used goes first. As many deletions are. @defaultValue 100 */
  readonly size?: number | undefined;
  /**
   * Show what was written also where the store has nothing under its key. Without the store's version (a store
   * that no informer fills) an object that was created and deleted unseen is shown until its time is over.
   * @defaultValue false
   */
  readonly includeAdds?: boolean | undefined;
  /** @defaultValue 'off' if NODE_ENV is 'production', else 'freeze', also where it is not set */
  readonly mutationGuard?: MutationGuard | undefined;
  /** Its `now()` is the only thing asked of it. @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

/**
 * A store, seen with one's own writes. Answers are shared: do not change them. Versions that cannot be compared
 * make a write yield to the store.
 */
export interface MutationCache<T> {
  /** The newer of what the store holds and what was written. */
  getByKey(key: string): Stored<T> | undefined;
  /**
   * Objects under a value, as an index over what {@link getByKey} gives; the store's own array where no write
   * lies over it. What was written and the index function refuses leaves the store's object in place. Throws on
   * an unknown index.
   */
  byIndex(indexName: string, value: string): readonly Stored<T>[];
  /**
   * Remembers what the server answered to a write: not what is older than an earlier answer, not what the store
   * has already, and not what is known to be deleted. Throws what the store's key function throws.
   */
  mutation(object: T): void;
  /** The store has this now: an answer that is no newer is forgotten. */
  onAddOrUpdate(object: T): void;
  /**
   * This is gone, in its last known state: an answer of the same UID, or one that is no newer, is forgotten, and
   * one that comes late is ignored.
   */
  onDelete(object: T): void;
  /**
   * Calls {@link onAddOrUpdate} and {@link onDelete} for all that `changes$` tells, such as an informer's, until
   * the result is unsubscribed. Subscribing to an informer's changes starts it.
   */
  connect(changes$: Observable<ChangeSet<T>>): Subscription;
}

/** What is known of an object beside its state. */
interface Version {
  readonly uid: string;
  readonly resourceVersion: string;
}

interface Written<T> extends Version {
  readonly object: Stored<T>;
}

function versionOf(object: KubernetesObject): Version {
  return { uid: uidOf(object), resourceVersion: object.metadata?.resourceVersion ?? '' };
}

/** So many values by key, each for so long. A `Map` keeps the order: the least recently used is its first. */
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

  /** It was used: others go before it. */
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

class Overlay<T extends KubernetesObject> implements MutationCache<T> {
  readonly #store: IndexerReader<T>;
  readonly #includeAdds: boolean;
  readonly #guard: MutationGuard;
  readonly #written: RecentValues<Written<T>>;
  /** Apart, so that a burst of deletions does not push out what was written. */
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
    const object = this.#standing(key);
    if (object === undefined) return this.#store.getByKey(key);
    this.#written.touch(key);
    return object;
  }

  byIndex(indexName: string, value: string): readonly Stored<T>[] {
    const stored = this.#store.byIndex(indexName, value);
    const func = this.#store.getIndexers()[indexName];
    let merged: Map<string, Stored<T>> | undefined;
    for (const key of this.#written.keys()) {
      const object = this.#standing(key);
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
    const gone = this.#tombstones.get(key);
    if (gone !== undefined) {
      if (gone.uid === uid || gone.resourceVersion === resourceVersion) return;
      if (isOlder(resourceVersion, gone.resourceVersion)) return;
    }
    if (this.#isPassed(key, version)) return;
    this.#written.set(key, {
      object: guardObject(object as Stored<T>, this.#guard),
      ...version,
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
      // What was written is another, newer object: it may be alive.
      if (isOlder(version.resourceVersion, written.resourceVersion)) return;
    }
    this.#written.delete(key);
    const gone = this.#tombstones.get(key);
    if (gone !== undefined && isOlder(version.resourceVersion, gone.resourceVersion)) return;
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

  /** What was written, where it counts. */
  #standing(key: string): Stored<T> | undefined {
    const written = this.#written.get(key);
    if (written === undefined) return undefined;
    if (this.#isPassed(key, written)) {
      this.#written.delete(key);
      return undefined;
    }
    return this.#includeAdds || this.#store.has(key) ? written.object : undefined;
  }

  /** Whether the store is as new as this: it has the object in a later state, or has seen it come and go. */
  #isPassed(key: string, { resourceVersion }: Version): boolean {
    const stored = this.#store.getByKey(key);
    if (stored !== undefined) return !isOlder(versionOf(stored).resourceVersion, resourceVersion);
    // Of what the store refused its version says nothing.
    if (!this.#store.synced || this.#store.refused.get(key) !== undefined) return false;
    return (compareResourceVersion(this.#store.resourceVersion, resourceVersion) ?? -1) >= 0;
  }
}

/**
 * Lays one's own writes over a store, so that a reader does not see a state older than what it wrote itself.
 *
 * A write is forgotten when the store is as new, when {@link MutationCache.connect} or the caller tells that it is,
 * when its time is over, or when too many others were used since: what is read is always a state that the server
 * has had, but not always the one that was written. Throws a `TypeError` for a `ttlMs` or `size` that makes no
 * sense. There is nothing to dispose of but what `connect` gives.
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
 * cache.mutation(web('7')); // the answer to an update
 * cache.getByKey('web')?.metadata?.resourceVersion; // => '7'
 * indexer.add(web('8')); // the watch has come as far
 * cache.getByKey('web')?.metadata?.resourceVersion; // => '8'
 * ```
 */
export function createMutationCache<T extends KubernetesObject>(
  indexer: IndexerReader<T>,
  options: MutationCacheOptions = {},
): MutationCache<T> {
  return new Overlay<T>(indexer, options);
}
