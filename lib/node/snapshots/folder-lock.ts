/**
 * Locks a folder for one process. The lock of a process that was killed is recognized: by its process id and start time, or,
 * in another container or on another machine, because its file is no longer touched. The name of each lock has a higher number than the
 * one before, and is linked into its place, so two processes that find the same dead lock cannot both take it.
 */
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** How often the file of a lock is touched, in milliseconds. */
const TOUCH_MS = 10_000;
/** A lock of another container or machine that was not touched for so long is dead, in milliseconds. */
const DEAD_MS = 60_000;
const MOST_TRIES = 20;

interface Owner {
  readonly pid: number;
  /** When the process started, in ticks since the boot; '' where the platform does not say it. */
  readonly start: string;
  /** The machine, its boot and the container. Process ids of other places mean nothing here. */
  readonly place: string;
}

function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

/** The start time of a process: the 22nd field of its `stat`. The second one, in parentheses, may contain spaces. */
function startOf(pid: number): string {
  const stat = textOf(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

function self(): Owner {
  const boot = textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  const container = textOf(() => readlinkSync('/proc/self/ns/pid'));
  return {
    pid: process.pid,
    start: startOf(process.pid),
    place: `${hostname()} ${boot} ${container}`,
  };
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The owner in a lock; `undefined` if it was released. */
function ownerIn(path: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Owner;
  } catch {
    return undefined;
  }
}

/** The arguments of one attempt to take the lock. */
interface Try {
  readonly own: Owner;
  /** The path of a file that this process has just written. Its time is the present time of the file system. */
  readonly probe: string;
  readonly deadMs: number;
}

/** How long ago a file was changed or touched. Both times are those of the file system, so clocks that differ do not matter. */
function silentMs(path: string, probe: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat === undefined ? 0 : lstatSync(probe).ctimeMs - stat.ctimeMs;
}

/** Whether the owner of a lock seems to live. */
function holds(owner: Owner, path: string, { own, probe, deadMs }: Try): boolean {
  if (owner.place === own.place) return exists(owner.pid) && startOf(owner.pid) === owner.start;
  return silentMs(path, probe) < deadMs;
}

function numbersIn(folder: string): number[] {
  const found = readdirSync(folder).map((name) => /^lock-(\d+)$/.exec(name)?.[1]);
  return found
    .filter((number) => number !== undefined)
    .map(Number)
    .sort((a, b) => b - a);
}

/** Creates the folder, if necessary. Throws if others may read it, or if it is a link. */
function checkFolder(folder: string): void {
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
  const stat = lstatSync(folder);
  if (!stat.isDirectory()) {
    throw new Error(
      `fileSnapshots: ${folder} is not a folder but a link or a file; pass the path of a folder`,
    );
  }
  if (process.getuid === undefined) return;
  if (stat.uid !== process.getuid() || (stat.mode & 0o077) !== 0) {
    throw new Error(
      `fileSnapshots: ${folder} may be read or changed by other users; run chmod 700 on it, or pass a folder that does not exist yet`,
    );
  }
}

/** The lock of a folder. */
export interface FolderLock {
  /** Throws once another process has taken the folder, because this one was suspended. */
  check(): void;
  /** Whether the owner before may still live: it is in another place, and only its lock was not touched any more. */
  readonly mayBeShared: boolean;
  release(): void;
}

/** Whether an error of `lockFolder` says something about the disk at present, and nothing about the folder. */
export function isOfDisk(error: unknown): boolean {
  const { code = '' } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
  return ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS'].includes(code);
}

/**
 * Locks a folder, which is created if necessary. Throws an `Error` if another process,
 * or this one, has locked it, if the folder is not safe, and if the disk does not let it.
 */
export function lockFolder(folder: string, deadMs?: number): FolderLock {
  try {
    return locked(folder, deadMs);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    const { message } = error as Error;
    throw new Error(
      `fileSnapshots: ${folder} cannot be locked: ${message}; free space on its disk, or pass a folder in which this process may write`,
      { cause: error },
    );
  }
}

function locked(folder: string, deadMs = DEAD_MS): FolderLock {
  checkFolder(folder);
  const own = self();
  const probe = join(folder, `probe-${process.pid}-${own.start}`);
  try {
    writeFileSync(probe, JSON.stringify(own), { mode: 0o600 });
    // Removes the files of processes that were killed while they took the lock.
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const isProbe = name.startsWith('probe-') && path !== probe;
      if (isProbe && silentMs(path, probe) >= deadMs) rmSync(path, { force: true });
    }
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const lock = tryLock(folder, { own, probe, deadMs });
      if (lock !== undefined) return lock;
    }
  } finally {
    rmSync(probe, { force: true });
  }
  throw new Error(
    `fileSnapshots: ${folder} cannot be locked, because other processes lock it all the time`,
  );
}

/** Takes the next lock, if the last one is not held. Returns `undefined` if another process was faster. */
function tryLock(folder: string, from: Try): FolderLock | undefined {
  const { own, probe } = from;
  const [last = 0] = numbersIn(folder);
  const before = join(folder, `lock-${last}`);
  const owner = ownerIn(before);
  const isNear = owner?.place === own.place;
  if (owner !== undefined && holds(owner, before, from)) {
    const who = isNear && owner.pid === own.pid ? 'this process' : `process ${owner.pid}`;
    throw new Error(
      `fileSnapshots: ${folder} is in use by ${who}; pass one fileSnapshots() to all factories of a process, and another folder to each process`,
    );
  }
  const path = join(folder, `lock-${last + 1}`);
  try {
    linkSync(probe, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
  const [newest = 0] = numbersIn(folder);
  if (newest !== last + 1) {
    rmSync(path, { force: true });
    return undefined;
  }
  for (const number of numbersIn(folder)) {
    if (number <= last) rmSync(join(folder, `lock-${number}`), { force: true });
  }
  return heldLock(folder, path, owner !== undefined && !isNear);
}

function heldLock(folder: string, path: string, mayBeShared: boolean): FolderLock {
  const timer = setInterval(() => {
    textOf(() => {
      // Changes the time of the last change, which is all that others look at.
      chmodSync(path, 0o600);
      return '';
    });
  }, TOUCH_MS);
  timer.unref();
  return {
    mayBeShared,
    check() {
      // A process that takes the folder removes all earlier locks.
      if (existsSync(path)) return;
      throw new Error(
        `${folder} is no longer locked: another process took it while this one was suspended`,
      );
    },
    release: () => {
      clearInterval(timer);
      // The name stays, because a number must not be used twice.
      if (existsSync(path)) writeFileSync(path, '');
    },
  };
}
