/** A database of IndexedDB, which is opened when it is needed. Other tabs can upgrade or delete it at any time. */
import { timer } from 'rxjs';

/** Grows with every change of the stores of a database. */
const VERSION = 1;
/** How long the browser may take to open a database, in milliseconds. */
const OPEN_MS = 5_000;
/** The name of a store of a database. */
export type StoreName = 'state' | 'collections' | 'objects' | 'windows';

/** The part of a page's or worker's global scope that is used. */
export interface BrowserScope {
  readonly indexedDB?: IDBFactory | undefined;
  readonly IDBKeyRange?: typeof IDBKeyRange | undefined;
  readonly navigator?:
    | {
        readonly locks?: LockManager | undefined;
        /** Chromium has buckets, each with a LevelDB of its own for all of its databases. */
        readonly storageBuckets?:
          | { open(name: string): Promise<{ readonly indexedDB: IDBFactory }> }
          | undefined;
      }
    | undefined;
}

/** The result of a request. The transaction stays open until the microtasks after it have run. */
export function resultOf<R>(request: IDBRequest<R>): Promise<R> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export class Database {
  readonly name: string;
  readonly stores: readonly StoreName[];
  readonly scope: BrowserScope;
  readonly #isApart: boolean;
  #opened: Promise<IDBDatabase> | undefined;

  /** `isApart`: whether the database is in a bucket of its own, if the browser has buckets. */
  constructor(name: string, stores: readonly StoreName[], scope: BrowserScope, isApart = false) {
    this.name = name;
    this.stores = stores;
    this.scope = scope;
    this.#isApart = isApart;
  }

  /**
   * Does work in one transaction. Resolves with its result once the transaction is complete. If the work rejects, or if the
   * browser aborts the transaction, nothing has changed. The work may await only requests of the transaction.
   */
  async transact<R>(
    stores: readonly StoreName[],
    mode: IDBTransactionMode,
    work: (of: (store: StoreName) => IDBObjectStore) => Promise<R>,
  ): Promise<R> {
    const database = await this.#open();
    const transaction = database.transaction(stores as StoreName[], mode);
    const ended = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () =>
        reject(transaction.error ?? new Error('the browser aborted the transaction'));
    });
    let failure: unknown;
    const worked = work((store) => transaction.objectStore(store)).catch((error: unknown) => {
      failure = error;
      try {
        transaction.abort();
      } catch {
        // It has ended already.
      }
    });
    const [result] = await Promise.all([worked, ended]).catch((error: unknown) => {
      // A full disk is the error of the transaction; the work itself knows better what else went wrong.
      throw (error as Error)?.name === 'QuotaExceededError' ? error : (failure ?? error);
    });
    if (failure !== undefined) throw failure;
    return result as R;
  }

  close(): void {
    this.#opened?.then(
      (database) => database.close(),
      () => undefined,
    );
    this.#opened = undefined;
  }

  #open(): Promise<IDBDatabase> {
    const opened = this.#opened ?? this.#request();
    this.#opened = opened;
    opened.catch(() => {
      if (this.#opened === opened) this.#opened = undefined;
    });
    return opened;
  }

  async #request(): Promise<IDBDatabase> {
    const { name, stores, scope } = this;
    const bucket = this.#isApart
      ? await scope.navigator?.storageBuckets?.open('rx-informer')
      : undefined;
    const factory = bucket?.indexedDB ?? scope.indexedDB;
    if (factory === undefined) {
      throw new Error('this browser has no IndexedDB, perhaps because the window is private');
    }
    return await new Promise<IDBDatabase>((resolve, reject) => {
      const request = factory.open(name, VERSION);
      const failed = (why: unknown) => {
        late.unsubscribe();
        request.onsuccess = () => request.result.close();
        reject(why);
      };
      const late = timer(OPEN_MS).subscribe(() =>
        failed(new Error(`it did not open within ${OPEN_MS} ms`)),
      );
      request.onupgradeneeded = () => {
        for (const store of stores) request.result.createObjectStore(store);
      };
      request.onblocked = () =>
        failed(new Error('another tab has an older version open; reload it'));
      request.onerror = () => failed(request.error);
      request.onsuccess = () => {
        late.unsubscribe();
        const database = request.result;
        // Otherwise another tab could not upgrade or delete it.
        database.onversionchange = () => this.close();
        database.onclose = () => this.close();
        if (stores.every((store) => database.objectStoreNames.contains(store))) {
          return resolve(database);
        }
        database.close();
        factory.deleteDatabase(name);
        reject(new Error('the database has other contents; it is deleted'));
      };
    });
  }
}
