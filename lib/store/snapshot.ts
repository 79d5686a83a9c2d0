/** Snapshots of a store: what it is at one revision, and one told a commit, in order. */
import { BehaviorSubject } from 'rxjs';
import type { ResourceVersion } from '../meta/resource-version.ts';

/** The store at one revision, cheaply: it reads the store, so an old one shows what is there now. */
export interface Snapshot<T> {
  /** Grows with each commit; two snapshots of one `rev` are one. */
  readonly rev: number;
  readonly size: number;
  readonly synced: boolean;
  readonly resourceVersion: ResourceVersion | '';
  get(key: string): T | undefined;
  /** The same array until something changes. */
  list(): readonly T[];
  byIndex(indexName: string, value: string): readonly T[];
}

/** What a snapshot reads. */
export interface SnapshotSource<T> {
  readonly rev: number;
  readonly size: number;
  readonly synced: boolean;
  readonly resourceVersion: ResourceVersion | '';
  getByKey(key: string): T | undefined;
  list(): readonly T[];
  byIndex(indexName: string, value: string): readonly T[];
}

class StoreSnapshot<T> implements Snapshot<T> {
  readonly rev: number;
  readonly size: number;
  readonly synced: boolean;
  readonly resourceVersion: ResourceVersion | '';
  readonly #store: SnapshotSource<T>;

  constructor(store: SnapshotSource<T>) {
    this.rev = store.rev;
    this.size = store.size;
    this.synced = store.synced;
    this.resourceVersion = store.resourceVersion;
    this.#store = store;
  }

  get(key: string): T | undefined {
    return this.#store.getByKey(key);
  }

  list(): readonly T[] {
    return this.#store.list();
  }

  byIndex(indexName: string, value: string): readonly T[] {
    return this.#store.byIndex(indexName, value);
  }
}

/** Tells each commit once, and one made inside a callback after the one at hand: all observers see one order. */
export class Snapshots<T> {
  readonly subject: BehaviorSubject<Snapshot<T>>;
  readonly #store: SnapshotSource<T>;
  #waiting: Snapshot<T>[] = [];
  #telling = false;

  constructor(store: SnapshotSource<T>) {
    this.#store = store;
    this.subject = new BehaviorSubject<Snapshot<T>>(new StoreSnapshot(store));
  }

  announce(): void {
    this.#waiting.push(new StoreSnapshot(this.#store));
    if (this.#telling) return;
    this.#telling = true;
    try {
      // Indexed: a callback that writes appends.
      for (let at = 0; at < this.#waiting.length; at++) {
        this.subject.next(this.#waiting[at] as Snapshot<T>);
      }
    } finally {
      this.#waiting = [];
      this.#telling = false;
    }
  }
}
