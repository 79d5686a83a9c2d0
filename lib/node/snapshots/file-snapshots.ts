/** `fileSnapshots`, a store of snapshots in the files of a folder. */

import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { checkedName } from '../../checks/checked-option.ts';
import type { SnapshotOptions } from '../../persist/snapshot-options.ts';
import type { SnapshotStore } from '../../persist/snapshot-store.ts';
import { type PersistPart, snapshotsIn } from '../../persist/snapshots-in.ts';
import { type FolderLock, isOfDisk, lockFolder } from './folder-lock.ts';
import { checkedFiles, diskFiles, type LogFile, type LogFiles } from './log-files.ts';
import { headOf, lastHeadOf, NEW, SnapshotLog } from './snapshot-log.ts';

/** The options of {@link fileSnapshots}. */
export interface FileSnapshotOptions extends SnapshotOptions {
  /**
   * The folder of the files, for this process only. It is created with mode 0700 if it does not exist, and its files have
   * mode 0600.
   */
  readonly folder: string;
}

const ENDING = '.snapshot';

/** The name of the file of a collection. */
export function nameOf(id: string): string {
  return `${createHash('sha256').update(id).digest('hex').slice(0, 32)}${ENDING}`;
}

/** What `read` finds in a file; `undefined` if it is damaged, of another format, or no file. */
async function foundIn<R>(
  files: LogFiles,
  name: string,
  read: (file: LogFile) => Promise<R>,
): Promise<R | undefined> {
  try {
    const file = await files.open(name);
    return file && (await read(file).finally(() => file.close()));
  } catch {
    return undefined;
  }
}

/** A store of snapshots over the files of a folder that is locked: one file per collection. */
export function fileStore(
  all: LogFiles,
  lock: () => FolderLock,
  release: () => void = () => undefined,
): SnapshotStore {
  const check = () => lock().check();
  // A process can be suspended at any moment, so each operation asks.
  const files = checkedFiles(all, check);
  const logs = new Map<string, SnapshotLog>();
  const logOf = (id: string): SnapshotLog => {
    check();
    const log = logs.get(id) ?? new SnapshotLog(files, nameOf(id), lock().mayBeShared);
    logs.set(id, log);
    return log;
  };
  return {
    read: async (id) => await logOf(id).read(),
    write: async (id, change) => await logOf(id).write(id, change),
    delete: async (id) => await logOf(id).delete(),
    async heads() {
      check();
      const heads = new Map<string, string>();
      for (const name of await files.names()) {
        if (!name.endsWith(ENDING) && !name.endsWith(ENDING + NEW)) continue;
        const found = await foundIn(files, name, headOf);
        if (found !== undefined) heads.set(found.id, found.head);
        // It cannot be used, and it may contain objects of anybody.
        else await files.remove(name).catch(() => undefined);
      }
      return heads;
    },
    async times() {
      check();
      const times = new Map<string, number>();
      for (const name of await files.names()) {
        if (!name.endsWith(ENDING)) continue;
        const found = await foundIn(files, name, lastHeadOf);
        if (found !== undefined) times.set(found.id, found.savedAtMs);
      }
      return times;
    },
    async close() {
      for (const log of logs.values()) await log.close();
      release();
    },
  };
}

/**
 * The option `persist` of an informer or a factory: keeps the objects of some kinds in files, and starts from them without a
 * list of the collection.
 *
 * Changes are appended to one file per collection, with checksums, and synced to the disk. A crash at any moment leaves a state
 * that the informer had. Throws an `Error` if another process uses the folder, if other users may read it, or if it is no
 * folder in which this process may write; a `TypeError` on options that could store or show what they must not. If the disk is
 * full, informers list and warn (`not-stored`). `close()` releases the folder; so does the end of the process, also by a signal.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from 'node:fs';
 * import { tmpdir } from 'node:os';
 * import { join } from 'node:path';
 * import { createClient, createInformerFactory } from 'rx-informer';
 * import { fileSnapshots } from 'rx-informer/node';
 * import { services } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
 * const persist = fileSnapshots({
 *   folder: join(mkdtempSync(join(tmpdir(), 'cache-')), 'snapshots'),
 *   identity: 'system:serviceaccount:shop:controller',
 *   kinds: [services],
 * });
 * const factory = createInformerFactory(client, { persist });
 * factory.informer(services);
 * factory.start();
 * await factory.whenSynced({ timeoutMs: 5_000 });
 * await factory.stop();
 * await persist.close();
 * ```
 */
export function fileSnapshots({ folder, ...options }: FileSnapshotOptions): PersistPart {
  checkedName(folder, 'fileSnapshots: folder', 'the path of a folder of this process');
  // The folder stays the same if the program changes its working directory.
  const path = resolve(folder);
  let lock: FolderLock | undefined;
  const locked = () => {
    lock ??= lockFolder(path);
    return lock;
  };
  const store = fileStore(diskFiles(path), locked, () => lock?.release());
  const persist = snapshotsIn(store, options, 'fileSnapshots');
  try {
    // After the options were checked.
    locked();
  } catch (error) {
    // Each informer says so, and lists; the next call of the store tries it again.
    if (!isOfDisk(error)) throw error;
  }
  const { forget, close } = persist;
  let closing: Promise<void> | undefined;
  return Object.assign(persist, {
    async forget(identity?: string) {
      if (closing === undefined) return await forget(identity);
      await closing;
      const again = fileSnapshots({ folder: path, ...options });
      await again.forget(identity).finally(() => again.close());
    },
    close() {
      closing = close();
      return closing;
    },
  });
}
