/**
 * Random histories of one snapshot file with crashes, and with suspensions while another process takes the folder: what is
 * loaded must be a state that was written, or nothing.
 */
import { seededRandom } from 'rx-informer/testing';
import { fileStore, nameOf } from '../../lib/node/snapshots/file-snapshots.ts';
import type { FolderLock } from '../../lib/node/snapshots/folder-lock.ts';
import { checkedFiles, type LogFiles } from '../../lib/node/snapshots/log-files.ts';
import { SnapshotLog } from '../../lib/node/snapshots/snapshot-log.ts';
import { Crashed, CrashingDisk, suspendable } from './crashing-disk.ts';

const KEYS = ['shop/a', 'shop/b', 'shop/c', 'shop/d'];
const NAME = nameOf('id');

type Contents = ReadonlyMap<string, string>;

/** A change, and the contents before and after it. */
interface Step {
  readonly version: number;
  readonly replaces: boolean;
  readonly objects: readonly (readonly [string, string])[];
  readonly deleted: readonly string[];
  readonly after: Contents;
}

const sizeOf = (files: ReadonlyMap<string, Buffer>) => files.get(NAME)?.length ?? 0;

const shown = (version: string | number, contents: Contents) =>
  `${version}: ${[...contents]
    .sort()
    .map((each) => each.join('='))
    .join(' ')}`;

function write(log: SnapshotLog, { version, replaces, objects, deleted }: Step) {
  return log.write('id', {
    ...{ head: 'head', resourceVersion: String(version), savedAtMs: version, replaces, deleted },
    objects: objects.map(([key, text]) => [key, Buffer.from(text)] as const),
  });
}

/** What a program that starts finds; `undefined` if it starts cold. */
async function loaded(
  log: SnapshotLog,
): Promise<{ version: string; contents: Contents } | undefined> {
  const stored = await log.read();
  if (stored === undefined || stored.head !== 'head') return undefined;
  const contents = new Map<string, string>();
  for await (const part of stored.parts) {
    for (const json of part) {
      const text = Buffer.from(json).toString();
      const { key } = JSON.parse(text) as { key: string };
      if (contents.has(key)) contents.set('twice', key);
      contents.set(key, text);
    }
  }
  return { version: stored.resourceVersion, contents };
}

/** A lock that nobody takes. */
export const LOCK: FolderLock = {
  mayBeShared: false,
  check: () => undefined,
  release: () => undefined,
};

/** A process that takes the folder while the one before is suspended, reads the file, and writes twice, then once more later. */
class Successor {
  readonly #log: SnapshotLog;
  #state: { version: string; contents: Contents } | undefined;

  constructor(files: CrashingDisk) {
    this.#log = new SnapshotLog(files, NAME, true);
  }

  async begin(): Promise<void> {
    this.#state = await loaded(this.#log);
    for (const key of ['shop/b', 'shop/c']) await this.write(key);
  }

  /** Writes one change, with lengths as those of the other process. */
  async write(key: string): Promise<void> {
    const version = Number(this.#state?.version ?? 0) + 100;
    const text = JSON.stringify({ key, version: 1000 + version });
    const after = new Map(this.#state?.contents).set(key, text);
    const objects = [[key, text]] as const;
    const replaces = this.#state === undefined;
    await write(this.#log, { version, replaces, objects, deleted: [], after });
    this.#state = { version: String(version), contents: after };
  }

  get shown(): string {
    return this.#state === undefined ? 'cold' : shown(this.#state.version, this.#state.contents);
  }
}

/**
 * Suspends a process before its operation `at`, lets a successor take the folder, and lets the first process end that
 * operation, whatever the others do. Returns what was wrong; `undefined` if the process has fewer operations.
 */
async function suspended(
  disk: ReadonlyMap<string, Buffer>,
  at: number,
  perform: (files: LogFiles) => Promise<unknown>,
): Promise<string | undefined> {
  const files = new CrashingDisk(disk);
  const successor = new Successor(files);
  let operations = 0;
  let isHeld = true;
  const own = suspendable(files as LogFiles, async () => {
    if (operations++ !== at) return;
    isHeld = false;
    await successor.begin();
  });
  const check = () => {
    if (!isHeld) throw new Crashed('the folder is lost');
  };
  await perform(checkedFiles(own, check));
  if (isHeld) return undefined;
  await successor.write('shop/d');
  for (const keeps of [true, false]) {
    const left = new CrashingDisk(files.remains(() => keeps));
    const found = await loaded(new SnapshotLog(left, NAME));
    const has = found === undefined ? 'cold' : shown(found.version, found.contents);
    if (has !== successor.shown) return `${has}, not ${successor.shown}`;
  }
  return '';
}

/** What is left on a disk when everything was forgotten. */
async function forgotten(left: ReadonlyMap<string, Buffer>): Promise<readonly string[]> {
  const files = new CrashingDisk(left);
  const store = fileStore(files, () => LOCK);
  for (const id of (await store.heads()).keys()) await store.delete(id);
  return files.names();
}

/**
 * Runs one history: lives that end with a crash in a random write, whose every byte is tried as the last one, and whose every
 * operation is tried as one that a suspension delays. Returns what was wrong.
 */
export async function crashes(seed: number): Promise<string[]> {
  const random = seededRandom(seed);
  const wrong: string[] = [];
  /** Changes its mind with this probability. */
  const coin = (changes: number) => {
    let keeps = random() < 0.5;
    return () => {
      if (random() < changes) keeps = !keeps;
      return keeps;
    };
  };
  let disk: ReadonlyMap<string, Buffer> = new Map();
  let version = 0;
  for (let life = 0; life < 5; life++) {
    let state = await loaded(new SnapshotLog(new CrashingDisk(disk), NAME));
    const steps: Step[] = [];
    let contents: Contents = state?.contents ?? new Map();
    for (let at = 0; at < 1 + Math.floor(random() * 4); at++) {
      version++;
      const replaces = (at === 0 && state === undefined) || random() < 0.2;
      const after = new Map(contents);
      // Half of the changes have equal lengths, too.
      const isOne = random() < 0.5;
      const one = Math.floor(random() * KEYS.length);
      const changed = KEYS.filter((_, index) => (isOne ? index === one : random() < 0.5));
      const deleted = changed.filter(() => !isOne && random() < 0.3);
      for (const key of changed) {
        // Equal lengths, so that an old frame can fit behind a new one.
        if (!deleted.includes(key))
          after.set(key, JSON.stringify({ key, version: 1000 + version }));
        else after.delete(key);
      }
      const objects = replaces ? [...after] : [...after].filter(([key]) => changed.includes(key));
      steps.push({ version, replaces, objects, deleted: replaces ? [] : deleted, after });
      contents = after;
    }
    /** Performs the steps until the crash. Returns the last one that was acknowledged, and the next one. */
    const perform = async (files: LogFiles) => {
      let done = -1;
      try {
        const log = new SnapshotLog(files, NAME);
        if (state !== undefined) await loaded(log);
        for (const step of steps) {
          await write(log, step);
          done++;
        }
      } catch (error) {
        if (!(error instanceof Crashed)) throw error;
      }
      return done;
    };
    for (let at = 0; ; at++) {
      const what = await suspended(disk, at, perform);
      if (what === undefined) break;
      if (what !== '') wrong.push(`seed ${seed}, life ${life}, suspended at ${at}: ${what}`);
    }
    const whole = new CrashingDisk(disk);
    await perform(whole);
    const before = state === undefined ? 'cold' : shown(state.version, state.contents);
    let next: ReadonlyMap<string, Buffer> = disk;
    const chosen = Math.floor(random() * whole.done);
    // Most lives begin with a change of which the crash has left the end, but not the beginning.
    const prefersTorn = random() < 0.8;
    const ends = new Set(whole.beforeSyncs);
    let torn = 0;
    for (let at = 0; at <= whole.done; at++) {
      const files = new CrashingDisk(disk, at);
      const done = await perform(files);
      const allowed = [done, done + 1].map((index) => {
        if (index === -1) return before;
        const step = steps[index];
        return step === undefined ? undefined : shown(step.version, step.after);
      });
      const fullSize = sizeOf(files.remains(() => true));
      for (const keeps of [() => true, () => false, coin(0.5), coin(0.1), coin(0.1)]) {
        const left = files.remains(keeps);
        const found = await loaded(new SnapshotLog(new CrashingDisk(left), NAME));
        const has = found === undefined ? 'cold' : shown(found.version, found.contents);
        if (!allowed.includes(has))
          wrong.push(`seed ${seed}, life ${life}, ${at}: ${has}, not ${allowed.join(' or ')}`);
        const remains = await forgotten(left);
        if (remains.length > 0) wrong.push(`seed ${seed}, life ${life}, ${at}: left ${remains}`);
        const isTorn = ends.has(at) && has !== allowed[1] && sizeOf(left) === fullSize;
        if (prefersTorn && isTorn) {
          torn++;
          if (random() * torn < 1) next = left;
        } else if (at === chosen && torn === 0) {
          next = left;
        }
      }
    }
    disk = next;
    state = undefined;
  }
  return wrong;
}
