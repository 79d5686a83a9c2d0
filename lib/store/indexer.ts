/**
 * `createIndexer`, the store that holds the local copy of a collection: objects by key, indices over them, and
 * `snapshot$`, which emits after each commit. A store has one writer and many readers.
 * client-go: tools/cache/store.go, index.go, thread_safe_store.go.
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

/** The read-only interface of an {@link Indexer}. Returned objects and arrays are shared: do not change them. */
export interface IndexerReader<T, Names extends string = string> extends KnownObjects<T> {
  /** Returns the stored object with this key, or with the key of this object. */
  get(target: string | T): Stored<T> | undefined;
  getByKey(key: string): Stored<T> | undefined;
  has(key: string): boolean;
  /** Returns all objects; the same array until the store changes. */
  list(): readonly Stored<T>[];
  listKeys(): readonly string[];
  /** Returns the objects that share a value of this index with `object`. Throws a `TypeError` for an unknown index. */
  index(indexName: Names, object: T): readonly Stored<T>[];
  /** Returns the keys of the objects with this index value, sorted. Throws a `TypeError` for an unknown index. */
  indexKeys(indexName: Names, value: string): readonly string[];
  /**
   * Returns the objects with this index value; the same array until one of them changes. Throws a `TypeError` for an
   * unknown index.
   */
  byIndex(indexName: Names, value: string): readonly Stored<T>[];
  /** Returns all values of an index. Throws a `TypeError` for an unknown index. */
  listIndexFuncValues(indexName: Names): readonly string[];
  getIndexers(): ReadIndexers<T>;
  /**
   * Adds indices and fills them. If a name exists already or an index function throws, it throws and adds none of them.
   * Returns the same store, whose type has all index names.
   */
  addIndexers<More extends string>(indexers: Indexers<T, More>): IndexerReader<T, Names | More>;
  /**
   * Emits a live reader of the store on subscription, then one per commit. It never completes. Each reader reads the
   * present state, also later, so `pairwise` and `scan` would compare the store with itself: see {@link StoreReader}.
   */
  readonly snapshot$: Observable<StoreReader<T, Names>> &
    Pick<BehaviorSubject<StoreReader<T, Names>>, 'value' | 'getValue'>;
  readonly rev: number;
  /** The version of the last object, bookmark or list that was applied; with several scopes, the oldest of theirs. */
  readonly resourceVersion: ResourceVersion | '';
  /** Whether the store has received a complete list of each scope. */
  readonly synced: boolean;
  /** Returns the key under which an object is stored. */
  keyOf(object: T): string;
  /** The objects that exist on the server, but whose newest state was refused and is therefore not in the store. */
  readonly refused: RefusedObjects;
}

/** The writes that are possible within {@link Indexer.transaction}. */
export interface IndexerTransaction<T> {
  /** Stores an object. If a key or index function throws, the error is thrown and nothing is stored. */
  put(object: T, key?: string): void;
  /** Removes an object. Returns whether the key existed. */
  remove(key: string): boolean;
  /** Freezes an object that is emitted but not stored, such as the last state of a deleted one, if stored ones are. */
  guarded(object: T): T;
  /** Sets the version or `synced`. `touched` makes a revision, even if the transaction changes no object. */
  mark(state: {
    readonly resourceVersion?: string;
    readonly synced?: boolean;
    readonly touched?: boolean;
  }): void;
}

/** An {@link IndexerReader} that can be written to. */
export interface Indexer<T, Names extends string = string> extends IndexerReader<T, Names> {
  readonly refused: Quarantine;
  /** Stores an object, new or not; `update` does the same. Throws errors of the key and index functions. */
  add(object: T): void;
  update(object: T): void;
  delete(object: T | string): void;
  /**
   * Replaces the complete contents, sets the version and makes the store synced. If a key or index function throws, the
   * error is thrown before anything changes.
   */
  replace(objects: readonly T[], resourceVersion?: string): void;
  /** Does nothing, because a store has no handlers. It exists as in client-go. */
  resync(): void;
  /**
   * Makes several writes one commit, with one revision and one emission of `snapshot$`. If `write` throws, all its
   * writes are undone. Transactions must not be nested.
   */
  transaction(write: (transaction: IndexerTransaction<T>) => void): void;
  /** Removes all objects and refused objects. The store is then not synced and has no version. */
  clear(): void;
}

/** The options of {@link createIndexer}. */
export interface IndexerOptions<T, Names extends string = string> {
  /** Returns the key of an object. @defaultValue `namespace/name` */
  readonly keyOf?: KeyFunc<T> | undefined;
  /** The index functions by name. Reading by another name does not compile. */
  readonly indexers?: Indexers<T, Names> | undefined;
  /**
   * Whether stored objects are frozen.
   * @defaultValue 'off' if NODE_ENV is 'production', otherwise 'freeze', also if NODE_ENV is not set
   */
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
    /** The object at each key before each write, in order. */
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
    // All values are computed first, so that nothing has changed if a function throws. One array is reused for all
    // writes, because every event passes here.
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
      `Index with name ${JSON.stringify(indexName)} does not exist. ${names === '' ? 'The store has no indices' : `Existing indices: ${names}`}`,
    );
  }
}

/**
 * Creates an empty store with indices. The cost of `get` does not depend on the number of objects, nor does that of
 * `list` and `byIndex` if nothing has changed since the last call.
 *
 * If a key or index function throws during a write, the write throws the error and changes nothing.
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
