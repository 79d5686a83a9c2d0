/**
 * One collection in one file, to which changes are appended: the base, then for each change its objects, its deletions and a
 * commit. When more of the file is void than valid, the informer is asked for a complete collection, which becomes a new file.
 */
import type { SnapshotChange, StoredSnapshot } from '../../persist/snapshot-store.ts';
import {
  baseEndOf,
  FIRST,
  FRAME,
  frame,
  framesIn,
  jsonFrame,
  jsonIn,
  objectPrefix,
  objectsIn,
  opening,
} from './frames.ts';
import type { LogFile, LogFiles } from './log-files.ts';

/** How many bytes of objects have one frame, which is written and read together. */
const BATCH_BYTES = 262_144;
/** A smaller file is not written again, however much of it is void. */
const SMALL_BYTES = 1_048_576;

/** The ending of a file that is not complete yet. */
export const NEW = '.new';

/** The place of an object in the file. */
interface Place {
  readonly from: number;
  readonly bytes: number;
}

/** The state of an open file. */
interface Opened {
  readonly file: LogFile;
  /** The end of the last commit. */
  end: number;
  /** The bytes of the valid objects by key. */
  readonly sizes: Map<string, number>;
  live: number;
}

/** The head of a file: what the collection is, and the version of its base. */
export interface LogHead extends Pick<StoredSnapshot, 'head' | 'resourceVersion' | 'savedAtMs'> {
  readonly id: string;
}

type Head = readonly [id: string, head: string, resourceVersion: string, savedAtMs: number];

/** The head of a file, and the places of the objects of its base. */
interface Base extends LogHead {
  readonly from: number;
  readonly end: number;
}

/** Reads the head of a file; `undefined` if it has none. */
export async function headOf(file: LogFile): Promise<Base | undefined> {
  const end = await baseEndOf(file);
  if (end === undefined) return undefined;
  for await (const each of framesIn(file, FIRST, end)) {
    if (each.type !== FRAME.head) return undefined;
    const [id, head, resourceVersion, savedAtMs] = jsonIn(each) as Head;
    return { id, head, resourceVersion, savedAtMs, from: each.end, end };
  }
  return undefined;
}

/** Reads the head of a file, with the version and the time of its last commit; `undefined` if it has none. */
export async function lastHeadOf(file: LogFile): Promise<LogHead | undefined> {
  const base = await headOf(file);
  if (base === undefined) return undefined;
  let { resourceVersion, savedAtMs } = base;
  for await (const each of framesIn(file, base.end, await file.size())) {
    if (each.type === FRAME.commit) [resourceVersion, savedAtMs] = jsonIn(each) as [string, number];
  }
  return { ...base, resourceVersion, savedAtMs };
}

/** The file of one collection. */
export class SnapshotLog {
  readonly #files: LogFiles;
  readonly #name: string;
  #isShared: boolean;
  #opened: Opened | undefined;

  /**
   * `isShared`: a process that seems dead may have the file open. When it goes on, it ends the operation in which it was
   * suspended, so nothing is appended to that file, but to a copy.
   */
  constructor(files: LogFiles, name: string, isShared = false) {
    this.#files = files;
    this.#name = name;
    this.#isShared = isShared;
  }

  /** The collection at the last commit; `undefined` if there is no file. The head is '' if the file is of another format. */
  async read(): Promise<StoredSnapshot | undefined> {
    await this.close();
    const file = await this.#files.open(this.#name);
    if (file === undefined) return undefined;
    const base = await headOf(file);
    const size = await file.size();
    if (base === undefined || size < base.end) {
      await file.close();
      return { head: '', resourceVersion: '', savedAtMs: 0, parts: partsOf(file, []) };
    }
    let { end, resourceVersion, savedAtMs } = base;
    /** What has changed since the base; without a place if it was deleted. In the order of the file. */
    const changes = new Map<string, Place | undefined>();
    let uncommitted: [string, Place?][] = [];
    for await (const each of framesIn(file, end, size)) {
      if (each.type === FRAME.objects) {
        objectsIn(each.payload, (key, from, to) => {
          uncommitted.push([key, { from: each.from + from, bytes: to - from }]);
        });
      } else if (each.type === FRAME.deleted) {
        for (const key of jsonIn(each) as readonly string[]) uncommitted.push([key]);
      } else if (each.type === FRAME.commit) {
        [resourceVersion, savedAtMs] = jsonIn(each) as [string, number];
        ({ end } = each);
        for (const [key, place] of uncommitted) {
          changes.delete(key);
          changes.set(key, place);
        }
        uncommitted = [];
      }
    }
    // What a crash has left must be gone from the disk before anything is written over it. Otherwise a second crash could
    // leave a new beginning with an old end.
    if (size > end) {
      await file.truncate(end);
      await file.sync();
    }
    this.#opened = { file, end, sizes: new Map(), live: 0 };
    const parts = partsSince(this.#opened, base, changes);
    return { head: base.head, resourceVersion, savedAtMs, parts };
  }

  async write(id: string, change: SnapshotChange): Promise<'rewrite' | undefined> {
    if (change.replaces) return this.#replace(id, change);
    let opened = this.#opened;
    if (opened === undefined) throw new Error('a change without a stored collection');
    if (this.#isShared) opened = await this.#copy(opened);
    await addChange(opened, change);
    await opened.file.sync();
    return opened.end - opened.live > Math.max(opened.live, SMALL_BYTES) ? 'rewrite' : undefined;
  }

  async delete(): Promise<void> {
    await this.close();
    // Also what a crash has left: it contains objects.
    await this.#files.remove(this.#name + NEW);
    await this.#files.remove(this.#name);
    await this.#files.sync();
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.file.close();
  }

  async #replace(id: string, change: SnapshotChange): Promise<undefined> {
    const { head, resourceVersion, savedAtMs } = change;
    const first: Head = [id, head, resourceVersion, savedAtMs];
    await this.#renewed(async (file) => {
      const opened: Opened = { file, end: FIRST, sizes: new Map(), live: 0 };
      await add(opened, jsonFrame(FRAME.head, first));
      await addObjects(opened, change.objects);
      await file.write(opening(opened.end), 0);
      return opened;
    });
    return undefined;
  }

  /** Continues in a copy of the file up to the last commit. */
  #copy({ file, ...opened }: Opened): Promise<Opened> {
    return this.#renewed(async (next) => {
      for (let at = 0; at < opened.end; at += BATCH_BYTES) {
        await next.write(await file.read(at, Math.min(BATCH_BYTES, opened.end - at)), at);
      }
      return { file: next, ...opened };
    });
  }

  /** Puts a new file into the place of the present one, when everything in it is on the disk. */
  async #renewed(fill: (file: LogFile) => Promise<Opened>): Promise<Opened> {
    const next = this.#name + NEW;
    const file = await this.#files.create(next);
    let opened: Opened;
    try {
      opened = await fill(file);
      await file.sync();
      await this.#files.rename(next, this.#name);
      await this.#files.sync();
    } catch (error) {
      await file.close();
      // The disk may be full.
      await this.#files.remove(next).catch(() => undefined);
      throw error;
    }
    await this.close();
    this.#isShared = false;
    this.#opened = opened;
    return opened;
  }
}

/** Notes the bytes of an object; 0 if it was deleted. */
function resize(opened: Opened, key: string, bytes: number): void {
  const { sizes } = opened;
  opened.live += bytes - (sizes.get(key) ?? 0);
  if (bytes === 0) sizes.delete(key);
  else sizes.set(key, bytes);
}

/** Writes bytes behind the last ones. */
async function add(opened: Opened, bytes: Buffer): Promise<void> {
  await opened.file.write(bytes, opened.end);
  opened.end += bytes.length;
}

async function addObjects(opened: Opened, objects: SnapshotChange['objects']): Promise<void> {
  let batch: Uint8Array[] = [];
  let waiting = 0;
  const flush = async () => {
    const bytes = frame(FRAME.objects, batch);
    batch = [];
    waiting = 0;
    await add(opened, bytes);
  };
  for (const [key, json] of objects) {
    resize(opened, key, json.length);
    batch.push(objectPrefix(key, json), json);
    waiting += json.length;
    if (waiting >= BATCH_BYTES) await flush();
  }
  if (waiting > 0) await flush();
}

/** Writes the frames of a change behind the last commit. */
async function addChange(opened: Opened, change: SnapshotChange): Promise<void> {
  const { objects, deleted, resourceVersion, savedAtMs } = change;
  await addObjects(opened, objects);
  for (const key of deleted) resize(opened, key, 0);
  if (deleted.length > 0) await add(opened, jsonFrame(FRAME.deleted, deleted));
  await add(opened, jsonFrame(FRAME.commit, [resourceVersion, savedAtMs]));
}

/** Reads the objects of the base that have not changed since, then the others. Notes the sizes of all. */
async function* partsSince(
  opened: Opened,
  base: Base,
  changes: ReadonlyMap<string, Place | undefined>,
): AsyncGenerator<readonly Uint8Array[]> {
  const { file } = opened;
  let reached = base.from;
  for await (const { type, payload, end } of framesIn(file, base.from, base.end)) {
    if (type !== FRAME.objects) break;
    const part: Uint8Array[] = [];
    objectsIn(payload, (key, from, to) => {
      if (changes.has(key)) return;
      resize(opened, key, to - from);
      part.push(payload.subarray(from, to));
    });
    reached = end;
    yield part;
  }
  if (reached !== base.end) throw new Error('the file is damaged');
  const places: Place[] = [];
  for (const [key, place] of changes) {
    if (place === undefined) continue;
    resize(opened, key, place.bytes);
    places.push(place);
  }
  yield* partsOf(file, places);
}

/** Reads the objects at these places, which are in the order of the file, together where they are near each other. */
async function* partsOf(
  file: LogFile,
  places: readonly Place[],
): AsyncGenerator<readonly Uint8Array[]> {
  let first = 0;
  let buffer: Buffer | undefined;
  while (first < places.length) {
    const { from } = places[first] as Place;
    let next = first;
    let end = from;
    for (; next < places.length; next++) {
      const place = places[next] as Place;
      if (next > first && place.from + place.bytes - from > BATCH_BYTES) break;
      end = place.from + place.bytes;
    }
    if (buffer === undefined || buffer.length < end - from) buffer = Buffer.allocUnsafe(end - from);
    const bytes = await file.read(from, end - from, buffer);
    if (bytes.length < end - from) throw new Error('the file has become shorter');
    const part = places.slice(first, next);
    yield part.map((place) => bytes.subarray(place.from - from, place.from - from + place.bytes));
    first = next;
  }
}
