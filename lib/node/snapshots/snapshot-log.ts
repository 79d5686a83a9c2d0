/**
 * One collection in one file, to which changes are appended: the head, then for each change its objects, its deletions and a
 * commit. When more of the file is void than valid, the informer is asked for a complete collection, which becomes a new file.
 */
import type { SnapshotChange, StoredSnapshot } from '../../persist/snapshot-store.ts';
import { FRAME, frame, framesOf, keyIn, MAGIC, objectFrame } from './frames.ts';
import type { LogFile, LogFiles } from './log-files.ts';

/** How many bytes are collected before they are written. */
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

/** The id and the head in a file. */
export interface LogHead {
  readonly id: string;
  readonly head: string;
}

/** Reads the head of a file; `undefined` if it has none. */
export async function headOf(file: LogFile): Promise<LogHead | undefined> {
  if (!MAGIC.equals(await file.read(0, MAGIC.length))) return undefined;
  for await (const { type, payload } of framesOf(file)) {
    if (type !== FRAME.head) return undefined;
    const [id, head] = JSON.parse(payload.toString()) as [string, string];
    return { id, head };
  }
  return undefined;
}

/** The file of one collection. */
export class SnapshotLog {
  readonly #files: LogFiles;
  readonly #name: string;
  #opened: Opened | undefined;

  constructor(files: LogFiles, name: string) {
    this.#files = files;
    this.#name = name;
  }

  /** The collection at the last commit; `undefined` if there is no file. The head is '' if the file is of another format. */
  async read(): Promise<StoredSnapshot | undefined> {
    await this.close();
    const file = await this.#files.open(this.#name);
    if (file === undefined) return undefined;
    const head = await headOf(file);
    const places = new Map<string, Place>();
    let end = MAGIC.length;
    let commit: readonly [string, number] | undefined;
    let changed = new Map<string, Place | undefined>();
    for await (const each of framesOf(file)) {
      if (each.type === FRAME.object) {
        const { key, before } = keyIn(each.payload);
        changed.delete(key);
        changed.set(key, { from: each.from + before, bytes: each.payload.length - before });
      } else if (each.type === FRAME.deleted) changed.set(each.payload.toString(), undefined);
      else if (each.type === FRAME.commit) {
        commit = JSON.parse(each.payload.toString()) as [string, number];
        ({ end } = each);
        for (const [key, place] of changed) {
          // Deleted first, so that the order of the map is that of the file.
          places.delete(key);
          if (place !== undefined) places.set(key, place);
        }
        changed = new Map();
      }
    }
    if (head === undefined || commit === undefined) {
      await file.close();
      return { head: '', resourceVersion: '', savedAtMs: 0, parts: partsOf(file, []) };
    }
    // What a crash has left must be gone from the disk before anything is written over it. Otherwise a second crash could
    // leave a new beginning with an old end.
    if ((await file.size()) > end) {
      await file.truncate(end);
      await file.sync();
    }
    const sizes = new Map([...places].map(([key, { bytes }]) => [key, bytes]));
    const live = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
    this.#opened = { file, end, sizes, live };
    const [resourceVersion, savedAtMs] = commit;
    const parts = partsOf(file, [...places.values()]);
    return { head: head.head, resourceVersion, savedAtMs, parts };
  }

  async write(id: string, change: SnapshotChange): Promise<'rewrite' | undefined> {
    if (change.replaces) return this.#replace(id, change);
    const opened = this.#opened;
    if (opened === undefined) throw new Error('a change without a stored collection');
    await this.#append(opened, change);
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
    const next = this.#name + NEW;
    const file = await this.#files.create(next);
    const opened: Opened = { file, end: MAGIC.length, sizes: new Map(), live: 0 };
    try {
      await file.write(MAGIC, 0);
      const head = frame(FRAME.head, Buffer.from(JSON.stringify([id, change.head])));
      await file.write(head, opened.end);
      opened.end += head.length;
      await this.#append(opened, change);
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
    this.#opened = opened;
    return undefined;
  }

  /** Writes the frames of a change behind the last commit. */
  async #append(opened: Opened, change: SnapshotChange): Promise<void> {
    const { file, sizes } = opened;
    let batch: Buffer[] = [];
    let waiting = 0;
    const flush = async () => {
      if (waiting === 0) return;
      const bytes = Buffer.concat(batch, waiting);
      batch = [];
      waiting = 0;
      await file.write(bytes, opened.end);
      opened.end += bytes.length;
    };
    const add = async (bytes: Buffer) => {
      batch.push(bytes);
      waiting += bytes.length;
      if (waiting >= BATCH_BYTES) await flush();
    };
    const resize = (key: string, bytes: number) => {
      opened.live += bytes - (sizes.get(key) ?? 0);
      if (bytes === 0) sizes.delete(key);
      else sizes.set(key, bytes);
    };
    for (const [key, json] of change.objects) {
      resize(key, json.length);
      await add(objectFrame(key, json));
    }
    for (const key of change.deleted) {
      resize(key, 0);
      await add(frame(FRAME.deleted, Buffer.from(key)));
    }
    const { resourceVersion, savedAtMs } = change;
    await add(frame(FRAME.commit, Buffer.from(JSON.stringify([resourceVersion, savedAtMs]))));
    await flush();
  }
}

/** Reads the objects at these places, which are in the order of the file, together where they are near each other. */
async function* partsOf(
  file: LogFile,
  places: readonly Place[],
): AsyncGenerator<readonly Uint8Array[]> {
  let first = 0;
  while (first < places.length) {
    const { from } = places[first] as Place;
    let next = first;
    let end = from;
    for (; next < places.length; next++) {
      const place = places[next] as Place;
      if (next > first && place.from + place.bytes - from > BATCH_BYTES) break;
      end = place.from + place.bytes;
    }
    const bytes = await file.read(from, end - from);
    if (bytes.length < end - from) throw new Error('the file has become shorter');
    const part = places.slice(first, next);
    yield part.map((place) => bytes.subarray(place.from - from, place.from - from + place.bytes));
    first = next;
  }
}
