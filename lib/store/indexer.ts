/**
 * The store that holds the local copy of a collection: objects by key, indices over them, and `snapshot$`, which emits
 * after each commit. A store has one writer and many readers.
 * client-go: tools/cache/store.go, index.go, thread_safe_store.go.
 */
import type { BehaviorSubject, Observable } from 'rxjs';
import type { KeyFunc } from '../meta/key.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import type { Stored } from '../meta/kubernetes-object.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';
import type { Indexers, ReadIndexers } from './index-funcs.ts';
import type { MutationGuard } from './mutation-guard.ts';
import type { RefusedObjects, WritableRefusedObjects } from './refused-objects.ts';
import type { Snapshot, StoreReader } from './store-reader.ts';

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
  readonly refused: WritableRefusedObjects;
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
