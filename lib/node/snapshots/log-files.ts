/** The files of a folder, as far as a store of snapshots needs them; and those of a disk. No link is followed. */
import { constants, type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** An open file. */
export interface LogFile {
  size(): Promise<number>;
  /** Returns as many bytes as the file has, from this place on. They may be in `into`, if that is long enough. */
  read(at: number, bytes: number, into?: Buffer): Promise<Buffer>;
  write(bytes: Uint8Array, at: number): Promise<void>;
  truncate(size: number): Promise<void>;
  /** Resolves when everything written so far would survive a crash. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The files of one folder. */
export interface LogFiles {
  /** Opens a file; `undefined` if there is none. */
  open(name: string): Promise<LogFile | undefined>;
  /** Creates a file, in place of one that may exist. */
  create(name: string): Promise<LogFile>;
  rename(from: string, to: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Resolves when created, renamed and removed names would survive a crash. */
  sync(): Promise<void>;
  names(): Promise<readonly string[]>;
}

/** The flag that refuses a link; 0 where the platform does not know it. */
const noFollow = () => constants.O_NOFOLLOW ?? 0;

function opened(handle: FileHandle): LogFile {
  return {
    size: async () => (await handle.stat()).size,
    async read(at, bytes, into) {
      const buffer = into !== undefined && into.length >= bytes ? into : Buffer.allocUnsafe(bytes);
      let done = 0;
      while (done < bytes) {
        const { bytesRead } = await handle.read(buffer, done, bytes - done, at + done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return buffer.subarray(0, done);
    },
    async write(bytes, at) {
      let done = 0;
      while (done < bytes.length) {
        done += (await handle.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
      }
    },
    truncate: (size) => handle.truncate(size),
    sync: () => handle.datasync(),
    close: () => handle.close(),
  };
}

/** The same files, of which nothing is changed, and nothing counts as synced, once `check` throws. */
export function checkedFiles(files: LogFiles, check: () => void): LogFiles {
  const checked = <A extends unknown[], R>(change: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      check();
      return await change(...args);
    };
  };
  const file = (inner: LogFile): LogFile => ({
    ...inner,
    write: checked(inner.write),
    truncate: checked(inner.truncate),
    sync: checked(inner.sync),
  });
  return {
    open: async (name) => {
      const found = await files.open(name);
      return found && file(found);
    },
    create: checked(async (name: string) => file(await files.create(name))),
    rename: checked((from: string, to: string) => files.rename(from, to)),
    remove: checked((name: string) => files.remove(name)),
    sync: checked(() => files.sync()),
    names: () => files.names(),
  };
}

/** The files of a folder on a disk. */
export function diskFiles(folder: string): LogFiles {
  const path = (name: string) => join(folder, name);
  return {
    async open(name) {
      try {
        const handle = await open(path(name), constants.O_RDWR | noFollow());
        if ((await handle.stat()).isFile()) return opened(handle);
        await handle.close();
        throw new Error(`${path(name)} is not a file`);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    async create(name) {
      await rm(path(name), { force: true });
      const { O_RDWR, O_CREAT, O_EXCL } = constants;
      return opened(await open(path(name), O_RDWR | O_CREAT | O_EXCL | noFollow(), 0o600));
    },
    rename: (from, to) => rename(path(from), path(to)),
    remove: (name) => rm(path(name), { force: true }),
    async sync() {
      // A platform without files for folders needs no sync of them.
      if (process.platform === 'win32') return;
      const handle = await open(folder, constants.O_RDONLY | noFollow());
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
    },
    names: () => readdir(folder),
  };
}
