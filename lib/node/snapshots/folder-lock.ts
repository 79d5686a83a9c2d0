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

/** The owner in a lock that is held; `undefined` if it was released or its process is gone. */
function holderOf(path: string, own: Owner, probe: string): Owner | undefined {
  let owner: Owner;
  try {
    owner = JSON.parse(readFileSync(path, 'utf8')) as Owner;
  } catch {
    return undefined;
  }
  if (owner.place === own.place) {
    return exists(owner.pid) && startOf(owner.pid) === owner.start ? owner : undefined;
  }
  // Both times are those of the file system, so clocks that differ do not matter.
  const ageMs = lstatSync(probe).ctimeMs - lstatSync(path).ctimeMs;
  return ageMs < DEAD_MS ? owner : undefined;
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
  mkdirSync(folder, { recursive: true, mode: 0o700 });
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
  /** False once another process has taken the folder, because this one was suspended. */
  isHeld(): boolean;
  release(): void;
}

/**
 * Locks a folder, which is created if necessary. Throws an `Error` if another process,
 * or this one, has locked it, and if the folder is not safe.
 */
export function lockFolder(folder: string): FolderLock {
  checkFolder(folder);
  const own = self();
  const probe = join(folder, `probe-${process.pid}-${own.start}`);
  writeFileSync(probe, JSON.stringify(own), { mode: 0o600 });
  try {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const path = tryLock(folder, own, probe);
      if (path !== undefined) return heldLock(path);
    }
  } finally {
    rmSync(probe, { force: true });
  }
  throw new Error(
    `fileSnapshots: ${folder} cannot be locked, because other processes lock it all the time`,
  );
}

/** Takes the next lock, if the last one is not held. Returns `undefined` if another process was faster. */
function tryLock(folder: string, own: Owner, probe: string): string | undefined {
  const [last = 0] = numbersIn(folder);
  const holder = last === 0 ? undefined : holderOf(join(folder, `lock-${last}`), own, probe);
  if (holder !== undefined) {
    const who =
      holder.pid === own.pid && holder.place === own.place
        ? 'this process'
        : `process ${holder.pid}`;
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
  return path;
}

function heldLock(path: string): FolderLock {
  const timer = setInterval(() => {
    textOf(() => {
      // Changes the time of the last change, which is all that others look at.
      chmodSync(path, 0o600);
      return '';
    });
  }, TOUCH_MS);
  timer.unref();
  return {
    // Whoever takes the folder removes the locks before its own.
    isHeld: () => existsSync(path),
    release: () => {
      clearInterval(timer);
      // The name stays, because a number must not be used twice.
      if (existsSync(path)) writeFileSync(path, '');
    },
  };
}
