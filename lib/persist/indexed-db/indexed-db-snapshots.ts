/** `indexedDbSnapshots`, a store of snapshots in a database of the browser. */
import { checkedName } from '../../checks/checked-option.ts';
import type { SnapshotOptions } from '../snapshot-options.ts';
import { type PersistPart, snapshotsIn } from '../snapshots-in.ts';
import { IndexedDbStore } from './indexed-db-store.ts';
import { Ownership } from './ownership.ts';

/** The options of {@link indexedDbSnapshots}. */
export interface IndexedDbSnapshotOptions extends SnapshotOptions {
  /** The name of the database. Give each cluster its own one. @defaultValue 'rx-informer' */
  readonly name?: string | undefined;
}

/**
 * The option `persist` of an informer or a factory in a browser: keeps the objects of some kinds in IndexedDB, and starts from
 * them without a list of the collection. Use it in a worker or in a page.
 *
 * A database has the objects of one identity: opening it for another one deletes it. Of all tabs and workers one
 * writes. If they have different `appVersion`s, the newest one does. `forget()` deletes the database for all tabs, and whoever
 * has begun before can no longer write. Throws a `TypeError` on options that could store or show what they must not. If
 * there is no database, or if it is full, damaged or of a newer program, informers start with a list and warn
 * once (`not-stored`).
 *
 * @example
 * ```ts
 * import { createClient, createInformerFactory, indexedDbSnapshots } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 *
 * const persist = indexedDbSnapshots({ identity: 'alice', kinds: [pods], env: 'left-out' });
 * const client = createClient({ baseUrl: 'http://localhost:8001' });
 * const factory = createInformerFactory(client, { persist });
 * typeof factory.informer; // => 'function'
 * ```
 */
export function indexedDbSnapshots(options: IndexedDbSnapshotOptions): PersistPart {
  const { name = 'rx-informer', identity, appVersion = '' } = options ?? {};
  checkedName(name, 'indexedDbSnapshots: name', 'the name of a database');
  const store = new IndexedDbStore(new Ownership(name, identity, globalThis), appVersion);
  return snapshotsIn(store, options, 'indexedDbSnapshots');
}
