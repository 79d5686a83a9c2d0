/** A database of IndexedDB, which is opened when it is needed. Other tabs can upgrade or delete it at any time. */
import { asyncScheduler } from 'rxjs';
import { looseTimer } from '../../rx/long-timer.ts';

/** Grows with every change of the stores below. */
const VERSION = 1;
/** How long the browser may take to open a database, in milliseconds. */
const OPEN_MS = 5_000;
/** Painted windows have a copy of the state, so that reading them does not wait for a long write of objects. */
const STORES = ['state', 'collections', 'objects', 'windows'] as const;

/** The name of a store of the database. */
export type StoreName = (typeof STORES)[number];

/** The part of a page's or worker's global scope that is used. */
export interface BrowserScope {
  readonly indexedDB?: IDBFactory | undefined;
  readonly IDBKeyRange?: typeof IDBKeyRange | undefined;
  readonly navigator?: { readonly locks?: LockManager | undefined } | undefined;
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
  readonly scope: BrowserScope;
  #opened: Promise<IDBDatabase> | undefined;

  constructor(name: string, scope: BrowserScope) {
    this.name = name;
    this.scope = scope;
  }

  /** Whether the browser has databases. Some private windows do not. */
  get exists(): boolean {
    return this.scope.indexedDB !== undefined;
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
        reject(transaction.error ?? new Error('the browser has aborted the transaction'));
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
    if (this.#opened !== undefined) return this.#opened;
    const opened = this.#request(() => {
      if (this.#opened === opened) this.#opened = undefined;
    });
    this.#opened = opened;
    return opened;
  }

  async #request(lost: () => void): Promise<IDBDatabase> {
    const { indexedDB: factory } = this.scope;
    if (factory === undefined) {
      throw new Error('this browser has no IndexedDB, perhaps because the window is private');
    }
    let isLate = false;
    const opened = new Promise<IDBDatabase>((resolve, reject) => {
      const request = factory.open(this.name, VERSION);
      const failed = (why: unknown) => {
        timer.unsubscribe();
        isLate = true;
        reject(why);
      };
      const timer = looseTimer(OPEN_MS, asyncScheduler, () =>
        failed(new Error(`the browser has not opened the database within ${OPEN_MS} ms`)),
      );
      request.onupgradeneeded = () => {
        for (const store of STORES) request.result.createObjectStore(store);
      };
      request.onblocked = () =>
        failed(new Error('another tab has an older version open; close it, or reload it'));
      request.onerror = () => failed(request.error);
      request.onsuccess = () => {
        timer.unsubscribe();
        const database = request.result;
        const close = () => {
          database.close();
          lost();
        };
        // Otherwise another tab could not upgrade or delete it.
        database.onversionchange = close;
        database.onclose = close;
        if (isLate) return close();
        if (STORES.every((store) => database.objectStoreNames.contains(store))) {
          return resolve(database);
        }
        close();
        factory.deleteDatabase(this.name);
        reject(new Error('the database has other contents; it is deleted'));
      };
    });
    return await opened.catch((error: unknown) => {
      lost();
      throw error;
    });
  }
}
