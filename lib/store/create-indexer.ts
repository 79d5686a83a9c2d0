/** `createIndexer`, the implementation of {@link Indexer} by a Map of objects and a table per index. */
import type { BehaviorSubject } from 'rxjs';
import { type KeyFunc, metaNamespaceKeyFunc } from '../meta/key.ts';
import type { KubernetesObject, Stored } from '../meta/kubernetes-object.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';
import type { Indexers } from './index-funcs.ts';
import { IndexTable, indexValues } from './index-table.ts';
import type { Indexer, IndexerOptions, IndexerTransaction } from './indexer.ts';
import { defaultMutationGuard, guardObject, type MutationGuard } from './mutation-guard.ts';
import { createRefusedObjects, type WritableRefusedObjects } from './refused-objects.ts';
import { type StoreReader, StoreReaders } from './store-reader.ts';

class MapIndexer<T extends object> implements Indexer<T> {
  readonly keyOf: KeyFunc<T>;
  readonly refused: WritableRefusedObjects = createRefusedObjects();
  readonly #guard: MutationGuard;
  readonly #items = new Map<string, Stored<T>>();
  readonly #tables = new Map<string, IndexTable<T>>();
  readonly #snapshots: StoreReaders<T>;
  #list: readonly Stored<T>[] | undefined;
  readonly #values: (string | readonly string[])[] = [];
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
      for (const [key, object] of this.#items) table.place(key, table.read(object));
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
    this.transaction((transaction) => transaction.remove(key));
  }

  replace(objects: readonly T[], resourceVersion = ''): void {
    const fresh = new Map<string, Stored<T>>();
    for (const object of objects) {
      const stored = object as Stored<T>;
      fresh.set(this.keyOf(object), stored);
      for (const table of this.#tables.values()) table.read(stored);
    }
    this.transaction((transaction) => {
      // Removing keys while iterating over them is safe for a Map.
      for (const key of this.keys()) if (!fresh.has(key)) transaction.remove(key);
      for (const [key, object] of fresh) transaction.put(object, key);
      transaction.mark({ resourceVersion, synced: true });
    });
  }

  resync(): void {}

  transaction(write: (transaction: IndexerTransaction<T>) => void): void {
    const { resourceVersion, synced } = this;
    const marks = { resourceVersion, synced, touched: false };
    /** Each key that was written, and the object that was stored before, in turn. One array, without pairs. */
    const undo: (string | T | undefined)[] = [];
    try {
      write({
        put: (object, key = this.keyOf(object)) => {
          const before = this.#items.get(key);
          this.#put(key, object);
          undo.push(key, before);
        },
        remove: (key) => {
          const before = this.#items.get(key);
          if (before === undefined) return false;
          this.#remove(key);
          undo.push(key, before);
          return true;
        },
        guarded: (object) => guardObject(object, this.#guard),
        mark: (state) => Object.assign(marks, state),
      });
    } catch (error) {
      for (let at = undo.length - 2; at >= 0; at -= 2) {
        const key = undo[at] as string;
        const before = undo[at + 1] as T | undefined;
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
      values[at++] = table.read(object);
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
