/** `fileSnapshots`, a store of snapshots in the files of a folder. */
import { createHash } from 'node:crypto';
import type { SnapshotOptions } from '../../persist/snapshot-options.ts';
import type { SnapshotStore } from '../../persist/snapshot-store.ts';
import { type PersistPart, snapshotsIn } from '../../persist/snapshots-in.ts';
import { lockFolder } from './folder-lock.ts';
import { diskFiles, type LogFiles } from './log-files.ts';
import { headOf, SnapshotLog } from './snapshot-log.ts';

/** The options of {@link fileSnapshots}. */
export interface FileSnapshotOptions extends SnapshotOptions {
  /**
   * The folder of the files, for this process only. It is created with mode 0700 if it does not exist, and its files have
   * mode 0600.
   */
  readonly folder: string;
}

const ENDING = '.snapshot';

function nameOf(id: string): string {
  return `${createHash('sha256').update(id).digest('hex').slice(0, 32)}${ENDING}`;
}

/** A store of snapshots over the files of a folder: one file per collection. */
export function fileStore(files: LogFiles, release: () => void): SnapshotStore {
  const logs = new Map<string, SnapshotLog>();
  const logOf = (id: string): SnapshotLog => {
    const log = logs.get(id) ?? new SnapshotLog(files, nameOf(id));
    logs.set(id, log);
    return log;
  };
  return {
    read: (id) => logOf(id).read(),
    write: (id, change) => logOf(id).write(id, change),
    delete: (id) => logOf(id).delete(),
    async heads() {
      const heads = new Map<string, string>();
      for (const name of await files.names()) {
        if (!name.endsWith(ENDING)) continue;
        const file = await files.open(name);
        if (file === undefined) continue;
        const found = await headOf(file).finally(() => file.close());
        if (found !== undefined) heads.set(found.id, found.head);
      }
      return heads;
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
 * that the informer had. Throws an `Error` if another process uses the folder, or if other users may read it; a
 * `TypeError` on options that could store or show what they must not. `close()` releases the folder; so does the end of the
 * process, also by a signal.
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
  if (typeof folder !== 'string' || folder === '') {
    throw new TypeError(
      'fileSnapshots: folder is missing; pass the path of a folder of this process',
    );
  }
  let locked: (() => void) | undefined;
  const persist = snapshotsIn(
    fileStore(diskFiles(folder), () => locked?.()),
    options,
    'fileSnapshots',
  );
  // After the options were checked.
  locked = lockFolder(folder);
  return persist;
}
