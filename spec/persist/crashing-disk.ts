/** A disk in memory that can crash at any byte: what was not synced is lost, cut, or kept, in any order. */
import type { LogFile, LogFiles } from '../../lib/node/snapshots/log-files.ts';

type FileOperation =
  | { readonly kind: 'write'; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly size: number };

interface Inode {
  synced: Buffer;
  pending: FileOperation[];
}

type Names = Map<string, Inode>;

function applied(content: Buffer, operation: FileOperation): Buffer {
  if (operation.kind === 'truncate') return content.subarray(0, operation.size);
  const { at, bytes } = operation;
  const next = Buffer.alloc(Math.max(content.length, at + bytes.length));
  next.set(content);
  next.set(bytes, at);
  return next;
}

/** Parts of a write that a disk may store in any order. */
const PIECE = 16;

function piecesOf(operation: FileOperation): FileOperation[] {
  if (operation.kind === 'truncate') return [operation];
  const { at, bytes } = operation;
  return Array.from({ length: Math.ceil(bytes.length / PIECE) }, (_, index) => {
    const from = index * PIECE;
    return { kind: 'write', at: at + from, bytes: bytes.subarray(from, from + PIECE) };
  });
}

const contentOf = ({ synced, pending }: Inode): Buffer => pending.reduce(applied, synced);

/** The same files, or file, as a process sees them that can be suspended before each operation. */
export function suspendable<F extends object>(files: F, pause: () => Promise<void>): F {
  return new Proxy(files, {
    get(target, name) {
      const operation: unknown = Reflect.get(target, name);
      if (typeof operation !== 'function') return operation;
      return async (...args: unknown[]) => {
        await pause();
        const result: unknown = await operation.apply(target, args);
        const isFile = typeof result === 'object' && result !== null && 'truncate' in result;
        return isFile ? suspendable(result, pause) : result;
      };
    },
  });
}

/** Thrown by every operation after the crash. */
export class Crashed extends Error {}

export class CrashingDisk implements LogFiles {
  #names: Names;
  #syncedNames: Names;
  #namesPending: ((names: Names) => void)[] = [];
  readonly #inodes: Set<Inode>;
  /** Operations and bytes until the crash. */
  #left: number;
  /** How many operations and bytes have been performed. */
  done = 0;
  bytesWritten = 0;
  /** The value of `done` before each sync of a file, when a write is complete and may be lost in parts. */
  readonly beforeSyncs: number[] = [];

  constructor(
    files: ReadonlyMap<string, Buffer> = new Map(),
    crashAfter = Number.POSITIVE_INFINITY,
  ) {
    const inodes = [...files].map(([name, synced]): [string, Inode] => [
      name,
      { synced, pending: [] },
    ]);
    this.#names = new Map(inodes);
    this.#syncedNames = new Map(inodes);
    this.#inodes = new Set(this.#names.values());
    this.#left = crashAfter;
  }

  /** What the disk has after the crash, or now. Of what was not synced, `keeps` decides. */
  remains(keeps: () => boolean): Map<string, Buffer> {
    const names = new Map(this.#syncedNames);
    // The names are kept by a journal, so a later change does not survive without the earlier ones.
    for (const change of this.#namesPending) {
      if (!keeps()) break;
      change(names);
    }
    const content = ({ synced, pending }: Inode) =>
      pending.flatMap(piecesOf).filter(keeps).reduce(applied, synced);
    return new Map([...names].map(([name, inode]) => [name, content(inode)]));
  }

  async open(name: string): Promise<LogFile | undefined> {
    const inode = this.#names.get(name);
    return inode === undefined ? undefined : this.#opened(inode);
  }

  async create(name: string): Promise<LogFile> {
    this.#step();
    const inode: Inode = { synced: Buffer.alloc(0), pending: [] };
    this.#inodes.add(inode);
    this.#rename((names) => names.set(name, inode));
    return this.#opened(inode);
  }

  async rename(from: string, to: string): Promise<void> {
    this.#step();
    this.#rename((names) => {
      const inode = names.get(from);
      names.delete(from);
      if (inode !== undefined) names.set(to, inode);
    });
  }

  async remove(name: string): Promise<void> {
    this.#step();
    this.#rename((names) => names.delete(name));
  }

  async sync(): Promise<void> {
    this.#step();
    this.#namesPending = [];
    this.#syncedNames = new Map(this.#names);
  }

  async names(): Promise<readonly string[]> {
    return [...this.#names.keys()];
  }

  #rename(change: (names: Names) => void): void {
    change(this.#names);
    this.#namesPending.push(change);
  }

  #step(): void {
    this.done++;
    if (this.#left-- <= 0) throw new Crashed('the machine has crashed');
  }

  #opened(inode: Inode): LogFile {
    return {
      size: async () => contentOf(inode).length,
      read: async (at, bytes) => contentOf(inode).subarray(at, at + bytes),
      write: async (bytes, at) => {
        this.#step();
        const fits = Math.min(bytes.length, this.#left);
        this.done += fits;
        this.#left -= fits;
        this.bytesWritten += fits;
        if (fits > 0) {
          inode.pending.push({ kind: 'write', at, bytes: Buffer.from(bytes.subarray(0, fits)) });
        }
        if (fits < bytes.length) throw new Crashed('the machine has crashed');
      },
      truncate: async (size) => {
        this.#step();
        inode.pending.push({ kind: 'truncate', size });
      },
      sync: async () => {
        this.beforeSyncs.push(this.done);
        this.#step();
        inode.synced = contentOf(inode);
        inode.pending = [];
      },
      close: async () => undefined,
    };
  }
}
