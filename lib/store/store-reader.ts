/** `StoreReader`, the type of the values of `snapshot$`, and the emission of one reader per commit. */

import { BehaviorSubject } from 'rxjs';
import type { Stored } from '../meta/kubernetes-object.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';

/**
 * A live reader of the store, not a copy: `get`, `list` and `byIndex` always read the present state, also on a reader
 * that was emitted earlier. Only `rev`, `size`, `synced` and `resourceVersion` are those of its commit.
 *
 * Operators that keep an earlier value, such as `pairwise` and `scan`, therefore compare the store with itself. Keep
 * what `list()` returned instead, because that array never changes, or take `changes$`, which has both states:
 *
 * @example
 * ```ts
 * import { createIndexer } from 'rx-informer';
 * import { map, pairwise } from 'rxjs';
 *
 * const indexer = createIndexer();
 * const sizes: string[] = [];
 * indexer.snapshot$
 *   .pipe(map((reader) => reader.list()), pairwise())
 *   .subscribe(([before, now]) => sizes.push(`${before.length} to ${now.length}`));
 * indexer.add({ metadata: { name: 'web', uid: 'u1', resourceVersion: '5' } });
 * sizes; // => ['0 to 1']
 * ```
 */
export interface StoreReader<T, Names extends string = string> {
  /** The revision of the store, which grows with each commit. */
  readonly rev: number;
  readonly size: number;
  readonly synced: boolean;
  readonly resourceVersion: ResourceVersion | '';
  get(key: string): Stored<T> | undefined;
  /** Returns all objects; the same array until the store changes. */
  list(): readonly Stored<T>[];
  byIndex(indexName: Names, value: string): readonly Stored<T>[];
}

/** @deprecated Use {@link StoreReader}. */
export type Snapshot<T> = StoreReader<T>;

/** The store that a {@link StoreReader} reads. */
export interface ReadableStore<T> {
  readonly rev: number;
  readonly size: number;
  readonly synced: boolean;
  readonly resourceVersion: ResourceVersion | '';
  getByKey(key: string): Stored<T> | undefined;
  list(): readonly Stored<T>[];
  byIndex(indexName: string, value: string): readonly Stored<T>[];
}

type Reads<T> = Pick<StoreReader<T>, 'get' | 'list' | 'byIndex'>;

class LiveReader<T> implements StoreReader<T> {
  readonly rev: number;
  readonly size: number;
  readonly synced: boolean;
  readonly resourceVersion: ResourceVersion | '';
  // Functions in fields, so that they can be passed around without their object.
  readonly get: Reads<T>['get'];
  readonly list: Reads<T>['list'];
  readonly byIndex: Reads<T>['byIndex'];

  constructor(store: ReadableStore<T>, { get, list, byIndex }: Reads<T>) {
    this.rev = store.rev;
    this.size = store.size;
    this.synced = store.synced;
    this.resourceVersion = store.resourceVersion;
    this.get = get;
    this.list = list;
    this.byIndex = byIndex;
  }
}

/**
 * Emits one reader per commit. A commit that is made in a callback is emitted after the current one, so that all
 * observers see the same order.
 */
export class StoreReaders<T> {
  readonly subject: BehaviorSubject<StoreReader<T>>;
  readonly #store: ReadableStore<T>;
  /** Shared by all readers, because a reader is made for each commit. */
  readonly #reads: Reads<T>;
  #waiting: StoreReader<T>[] = [];
  #announcing = false;

  constructor(store: ReadableStore<T>) {
    this.#store = store;
    this.#reads = {
      get: (key) => store.getByKey(key),
      list: () => store.list(),
      byIndex: (indexName, value) => store.byIndex(indexName, value),
    };
    this.subject = new BehaviorSubject<StoreReader<T>>(new LiveReader(store, this.#reads));
  }

  announce(): void {
    this.#waiting.push(new LiveReader(this.#store, this.#reads));
    if (this.#announcing) return;
    this.#announcing = true;
    try {
      // A loop by index, because a callback that writes appends to the array.
      for (let at = 0; at < this.#waiting.length; at++) {
        this.subject.next(this.#waiting[at] as StoreReader<T>);
      }
    } finally {
      this.#waiting = [];
      this.#announcing = false;
    }
  }
}
