/**
 * The local copy of a collection: objects by key, indices over them, and a snapshot that says when it changed.
 * One writer, many readers. client-go: tools/cache/store.go, index.go, thread_safe_store.go.
 */

import type { BehaviorSubject, Observable } from 'rxjs';
import { type KeyFunc, metaNamespaceKeyFunc } from '../meta/key.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';
import type { Stored } from '../meta/stored.ts';
import type { Indexers, ReadIndexers } from './index-funcs.ts';
import { IndexTable, indexValues } from './index-table.ts';
import { defaultMutationGuard, guardObject, type MutationGuard } from './mutation-guard.ts';
import { createQuarantine, type Quarantine, type RefusedObjects } from './quarantine.ts';
import { type Snapshot, type StoreReader, StoreReaders } from './store-reader.ts';

export type { Snapshot, StoreReader };

/** The reading side of an {@link Indexer}. Answers are shared: do not change them. */
export interface IndexerReader<T, Names extends string = string> extends KnownObjects<T> {
  /** By key, or the stored twin of an object. */
  get(target: string | T): Stored<T> | undefined;
  getByKey(key: string): Stored<T> | undefined;
  has(key: string): boolean;
  /** All objects; the same array until something changes. */
  list(): readonly Stored<T>[];
  listKeys(): readonly string[];
  /** Objects that share a value of this index with `object`. Throws on an unknown index. */
  index(indexName: Names, object: T): readonly Stored<T>[];
  /** Keys under a value, sorted. Throws on an unknown index. */
  indexKeys(indexName: Names, value: string): readonly string[];
  /** Objects under a value; the same array until one of them changes. Throws on an unknown index. */
  byIndex(indexName: Names, value: string): readonly Stored<T>[];
  /** All values of an index. Throws on an unknown index. */
  listIndexFuncValues(indexName: Names): readonly string[];
  getIndexers(): ReadIndexers<T>;
  /** Adds indices and fills them. Throws on a name that is taken, and then adds none. Returns the same store, typed with all its names. */
  addIndexers<More extends string>(indexers: Indexers<T, More>): IndexerReader<T, Names | More>;
  /**
   * A living reader of the store on subscription, then one per commit. Each of them reads the present state, also later,
   * so `pairwise` and `scan` over it compare the store with itself: see {@link StoreReader}. A BehaviorSubject seen from
   * the reading side.
   */
  readonly snapshot$: Observable<StoreReader<T, Names>> &
    Pick<BehaviorSubject<StoreReader<T, Names>>, 'value' | 'getValue'>;
  readonly rev: number;
  /** How far the store is: the version of the last object, bookmark or list that was applied. */
  readonly resourceVersion: ResourceVersion | '';
  /** The store has held a whole list. */
  readonly synced: boolean;
  /** The key under which an object stands. */
  keyOf(object: T): string;
  /** Objects that exist on the server but stay out of the store, because their newest state was refused. */
  readonly refused: RefusedObjects;
}

/** What may be changed within {@link Indexer.transaction}. */
export interface IndexerTransaction<T> {
  /** Throws what a key or index function throws; store and indices are then as they were. */
  put(object: T, key?: string): void;
  /** Whether there was such a key. */
  remove(key: string): boolean;
  /** What is told but not stored, as the last state of what is removed: frozen where what is stored is. */
  guarded(object: T): T;
  /** Moves the version, tells whether the store is whole, or makes a revision of a write that changed nothing. */
  mark(state: {
    readonly resourceVersion?: string;
    readonly synced?: boolean;
    readonly touched?: boolean;
  }): void;
}

/** A {@link IndexerReader} that can be written. */
export interface Indexer<T, Names extends string = string> extends IndexerReader<T, Names> {
  readonly refused: Quarantine;
  /** Puts an object, new or not (client-go's Add and Update are one). */
  add(object: T): void;
  update(object: T): void;
  delete(object: T | string): void;
  /** Everything anew. Throws before anything changes when one object cannot be keyed or indexed. */
  replace(objects: readonly T[], resourceVersion?: string): void;
  /** Does nothing: a store has nobody to tell. */
  resync(): void;
  /** Several writes as one commit: one revision, one snapshot; none when `write` throws. Not to be nested. */
  transaction(write: (transaction: IndexerTransaction<T>) => void): void;
  /** Empty, unsynced, without version. */
  clear(): void;
}

/** What {@link createIndexer} takes. */
export interface IndexerOptions<T, Names extends string = string> {
  /** @defaultValue `namespace/name` */
  readonly keyOf?: KeyFunc<T> | undefined;
  /** Index functions by name. Reads by another name do not compile. */
  readonly indexers?: Indexers<T, Names> | undefined;
  /** @defaultValue 'off' if NODE_ENV is 'production', else 'freeze', also where it is not set */
  readonly mutationGuard?: MutationGuard | undefined;
}

class MapIndexer<T extends object> implements Indexer<T> {
  readonly keyOf: KeyFunc<T>;
  readonly refused: Quarantine = createQuarantine();
  readonly #guard: MutationGuard;
  readonly #items = new Map<string, Stored<T>>();
  readonly #tables = new Map<string, IndexTable<T>>();
  readonly #snapshots: StoreReaders<T>;
  #list: readonly Stored<T>[] | undefined;
  readonly #values: (readonly string[])[] = [];
  rev = 0;
  resourceVersion: ResourceVersion | '' = '';
  synced = false;

  constructor(options: IndexerOptions<T>) {
    this.keyOf = options.keyOf ?? (metaNamespaceKeyFunc as KeyFunc<unknown>);
    this.#guard = options.mutationGuard ?? defaultMutationGuard();
    this.addIndexers(options.indexers ?? {});
    this.#snapshots = new StoreReaders<T>(this);
  }

  get snapshot$(): BehaviorSubject<StoreReader<T>> {
    return this.#snapshots.subject;
  }

  get size(): number {
    return this.#items.size;
  }

  get(target: string | T): Stored<T> | undefined {
    return this.#items.get(typeof target === 'string' ? target : this.keyOf(target));
  }

  getByKey(key: string): Stored<T> | undefined {
    return this.#items.get(key);
  }

  has(key: string): boolean {
    return this.#items.has(key);
  }

  keys(): Iterable<string> {
    return this.#items.keys();
  }

  list(): readonly Stored<T>[] {
    this.#list ??= Object.freeze([...this.#items.values()]);
    return this.#list;
  }

  listKeys(): readonly string[] {
    return [...this.#items.keys()];
  }

  index(indexName: string, object: T): readonly Stored<T>[] {
    const table = this.#table(indexName);
    const found = new Set<Stored<T>>();
    for (const value of indexValues(table.func, object as Stored<T>, indexName)) {
      for (const item of table.list(value, this.#items)) found.add(item);
    }
    return [...found];
  }

  indexKeys(indexName: string, value: string): readonly string[] {
    return this.#table(indexName).keys(value);
  }

  byIndex(indexName: string, value: string): readonly Stored<T>[] {
    return this.#table(indexName).list(value, this.#items);
  }

  listIndexFuncValues(indexName: string): readonly string[] {
    return this.#table(indexName).values();
  }

  getIndexers(): Indexers<T> {
    return Object.fromEntries([...this.#tables].map(([name, table]) => [name, table.func]));
  }

  addIndexers(indexers: Indexers<T>): this {
    const made: IndexTable<T>[] = [];
    for (const [name, func] of Object.entries(indexers)) {
      if (this.#tables.has(name)) {
        throw new TypeError(`indexer conflict: an index named ${JSON.stringify(name)} exists`);
      }
      const table = new IndexTable(name, func);
      for (const [key, object] of this.#items) table.place(key, indexValues(func, object, name));
      made.push(table);
    }
    for (const table of made) this.#tables.set(table.name, table);
    return this;
  }

  add(object: T): void {
    this.transaction((transaction) => transaction.put(object));
  }

  update(object: T): void {
    this.add(object);
  }

  delete(object: T | string): void {
    const key = typeof object === 'string' ? object : this.keyOf(object);
    if (this.#items.has(key)) this.transaction((transaction) => transaction.remove(key));
  }

  replace(objects: readonly T[], resourceVersion = ''): void {
    const fresh = new Map<string, Stored<T>>();
    for (const object of objects) {
      const stored = object as Stored<T>;
      fresh.set(this.keyOf(object), stored);
      for (const table of this.#tables.values()) indexValues(table.func, stored, table.name);
    }
    this.transaction((transaction) => {
      for (const key of this.listKeys()) if (!fresh.has(key)) transaction.remove(key);
      for (const [key, object] of fresh) transaction.put(object, key);
      transaction.mark({ resourceVersion, synced: true });
    });
  }

  resync(): void {}

  transaction(write: (transaction: IndexerTransaction<T>) => void): void {
    const { resourceVersion, synced } = this;
    const marks = { resourceVersion, synced, touched: false };
    /** What stood at each key before each write, in order. */
    const undo: (readonly [key: string, object: T | undefined])[] = [];
    try {
      write({
        put: (object, key = this.keyOf(object)) => {
          const before = this.#items.get(key);
          this.#put(key, object);
          undo.push([key, before]);
        },
        remove: (key) => {
          const before = this.#items.get(key);
          if (before === undefined) return false;
          this.#remove(key);
          undo.push([key, before]);
          return true;
        },
        guarded: (object) => guardObject(object, this.#guard),
        mark: (state) => Object.assign(marks, state),
      });
    } catch (error) {
      for (const [key, before] of undo.reverse()) {
        if (before === undefined) this.#remove(key);
        else this.#put(key, before);
      }
      throw error;
    }
    const changed = undo.length > 0;
    this.resourceVersion = marks.resourceVersion;
    this.synced = marks.synced;
    if (!changed && !marks.touched && marks.synced === synced) return;
    this.rev++;
    if (changed) this.#list = undefined;
    this.#snapshots.announce();
  }

  clear(): void {
    this.#items.clear();
    this.refused.clear();
    for (const table of this.#tables.values()) table.clear();
    this.#list = undefined;
    this.resourceVersion = '';
    this.synced = false;
    this.rev++;
    this.#snapshots.announce();
  }

  #put(key: string, given: T): void {
    const object = given as Stored<T>;
    // All values first: when a function throws, nothing has happened yet. One array for all writes, as this is
    // where every event passes.
    const values = this.#values;
    let at = 0;
    for (const table of this.#tables.values()) {
      values[at++] = indexValues(table.func, object, table.name);
    }
    this.#items.set(key, guardObject(object, this.#guard));
    at = 0;
    for (const table of this.#tables.values()) table.place(key, values[at++] ?? []);
  }

  #remove(key: string): void {
    this.#items.delete(key);
    for (const table of this.#tables.values()) table.place(key, []);
  }

  #table(indexName: string): IndexTable<T> {
    const table = this.#tables.get(indexName);
    if (table !== undefined) return table;
    const names = [...this.#tables.keys()].map((name) => JSON.stringify(name)).join(', ');
    throw new TypeError(
      `Index with name ${JSON.stringify(indexName)} does not exist; there is ${names || 'none'}`,
    );
  }
}

/**
 * A store with indices. `get`, and `list` or `byIndex` read again without a change, cost the same at any size.
 *
 * Throws when an index name is taken; writes throw what a key or index function throws, and change nothing then.
 *
 * @example
 * ```ts
 * import { byNamespace, createIndexer } from 'rx-informer';
 *
 * const indexer = createIndexer({ indexers: { namespace: byNamespace } });
 * indexer.add({ metadata: { namespace: 'shop', name: 'web', uid: 'u1', resourceVersion: '5' } });
 * indexer.byIndex('namespace', 'shop').length; // => 1
 * indexer.list() === indexer.list(); // => true
 * ```
 */
export function createIndexer<T extends object = KubernetesObject, Names extends string = string>(
  options: IndexerOptions<T, Names> = {},
): Indexer<T, Names> {
  return new MapIndexer<T>(options as IndexerOptions<T>);
}
