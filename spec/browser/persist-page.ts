/** The script of a test page: an informer that keeps its Pods in IndexedDB. */
import {
  createClient,
  createListWatch,
  createSharedInformer,
  indexedDbSnapshots,
  type PersistPart,
  type SharedInformer,
  type Stored,
} from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';

let informer: SharedInformer<Pod>;
let persist: PersistPart;
const warnings: string[] = [];
const statuses: string[] = [];

const page = {
  start(identity = 'ann', appVersion = '', isStored = true) {
    const client = createClient({ baseUrl: '' });
    persist = indexedDbSnapshots({ identity, appVersion, kinds: [pods], env: 'left-out' });
    informer = createSharedInformer<Pod>(createListWatch<Pod>(client, pods), {
      ...(isStored && { persist }),
      onWarning: ({ message }) => warnings.push(message),
    });
    informer.status$.subscribe(({ stale, synced }) => {
      const now = stale === true ? 'stale' : synced ? 'synced' : 'loading';
      if (statuses.at(-1) !== now) statuses.push(now);
    });
    informer.start();
  },
  synced: () => informer.whenSynced(),
  forget: () => persist.forget(),
  stop: async () => {
    await informer.stop();
    await persist.close();
  },
  seen: () => ({ warnings, statuses }),
  /** The version of each Pod, by name. */
  versions: () =>
    Object.fromEntries(
      informer.indexer
        .list()
        .map(({ metadata }: Stored<Pod>) => [metadata?.name, metadata?.resourceVersion]),
    ),
  /** The versions of the programs that have written the stored collections. */
  async writtenBy(): Promise<readonly string[]> {
    const database = await new Promise<IDBDatabase>((resolve) => {
      const request = indexedDB.open('rx-informer');
      request.onsuccess = () => resolve(request.result);
    });
    const records = await new Promise<readonly { readonly head: string }[]>((resolve) => {
      const request = database.transaction('collections').objectStore('collections').getAll();
      request.onsuccess = () => resolve(request.result);
    });
    database.close();
    return records.map(({ head }) => JSON.parse(head).app);
  },
  /** How many records each store of the database has. */
  async counts(): Promise<Record<string, number>> {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open('rx-informer');
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    const names = [...database.objectStoreNames];
    const counts: Record<string, number> = {};
    const transaction = database.transaction(names);
    for (const name of names) {
      const request = transaction.objectStore(name).count();
      request.onsuccess = () => {
        counts[name] = request.result;
      };
    }
    await new Promise((resolve) => {
      transaction.oncomplete = resolve;
    });
    database.close();
    return counts;
  },
  /** Changes one record, as any script of the origin may. */
  async damage(store: string, change: (value: unknown) => unknown) {
    const database = await new Promise<IDBDatabase>((resolve) => {
      const request = indexedDB.open('rx-informer');
      request.onsuccess = () => resolve(request.result);
    });
    const transaction = database.transaction(store, 'readwrite');
    const cursor = transaction.objectStore(store).openCursor();
    cursor.onsuccess = () => {
      const changed = change(cursor.result?.value as never);
      if (changed === undefined) cursor.result?.delete();
      else cursor.result?.update(changed);
    };
    // Otherwise the damage could be undone when the tab is closed.
    await new Promise<void>((resolve) => {
      transaction.oncomplete = () => resolve();
    });
    database.close();
  },
  /** Upgrades or deletes the database, as the page of another version may. */
  async replaceDatabase(version: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const request =
        version > 0
          ? indexedDB.open('rx-informer', version)
          : indexedDB.deleteDatabase('rx-informer');
      request.onsuccess = () => {
        if (version > 0) request.result.close();
        resolve();
      };
      request.onerror = () => reject(request.error);
    });
  },
};

export type PersistPage = typeof page;

Object.assign(globalThis, { page });
