/**
 * One resource in the log: its objects as they are now, and the changes that led there, back to the last compaction.
 * A version comes with the object that carries it. The writer of the log may count versions, or take them from the
 * server that it copies.
 */
import type { LoggedResource } from './logged-resource.ts';
import { eventText, keyOf, type StoredObject } from './stored-object.ts';

/** One change. */
export interface LogEntry {
  readonly kind: 'change';
  readonly version: bigint;
  readonly key: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** Of a deletion: the last state, under the version of the deletion. */
  readonly object: StoredObject;
  readonly previous: StoredObject | undefined;
  /** Never sent to a watch. */
  readonly silent: boolean;
  /** The line of a watch without a selector, encoded once for all watches. */
  bytes(): Uint8Array;
}

/** The newest version of a log. The collections of one server share it. */
export interface NewestVersion {
  newest: bigint;
}

const encoder = /* @__PURE__ */ new TextEncoder();

/** The objects of one resource and their changes. */
export class Collection<R extends LoggedResource = LoggedResource> {
  readonly served: R;
  readonly objects: Map<string, StoredObject> = new Map();
  /** Called after each change. */
  readonly listeners: Set<() => void> = new Set();
  /** The oldest version from which all changes are known. */
  floor: bigint;
  /** How many entries have been dropped from the front: positions count from the first entry ever. */
  #dropped = 0;
  #entries: LogEntry[] = [];
  #sorted: string[] | undefined;
  readonly #versions: NewestVersion;
  readonly #limit: number;

  /** `limit` is the number of changes that are kept at least. */
  constructor(served: R, versions: NewestVersion, limit: number) {
    this.served = served;
    this.floor = versions.newest;
    this.#versions = versions;
    this.#limit = limit;
  }

  /** The version of a list that is made now. */
  get version(): bigint {
    return this.#versions.newest;
  }

  /** The position after the last entry. */
  get end(): number {
    return this.#dropped + this.#entries.length;
  }

  /** The entry at a position; `undefined` at the end, and for an entry that has been dropped. */
  entry(position: number): LogEntry | undefined {
    return this.#entries[position - this.#dropped];
  }

  /** Whether all entries from this position on are still in the log. */
  reaches(position: number): boolean {
    return position >= this.#dropped;
  }

  /** The position of the first entry newer than a version. */
  after(version: bigint): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle] as LogEntry).version > version) high = middle;
      else low = middle + 1;
    }
    return this.#dropped + low;
  }

  /**
   * Records a change under the version that the object carries. A deletion carries its own version, with the last
   * state of the object. Throws a `RangeError` if the version is not newer than that of the last change.
   */
  append(type: LogEntry['type'], object: StoredObject, silent = false): void {
    const version = BigInt(object.metadata.resourceVersion);
    const last = this.#entries.at(-1)?.version ?? this.floor;
    const key = keyOf(object);
    if (version <= last) {
      throw new RangeError(
        `cannot append ${type} ${key} at resourceVersion ${version}: the last change in the log has ${last}`,
      );
    }
    const previous = this.objects.get(key);
    if (type === 'DELETED') this.objects.delete(key);
    else this.objects.set(key, object);
    if (type === 'DELETED' || previous === undefined) this.#sorted = undefined;
    let line: Uint8Array | undefined;
    const bytes = () => {
      line ??= encoder.encode(eventText(type, object));
      return line;
    };
    this.#entries.push({ kind: 'change', version, key, type, object, previous, silent, bytes });
    if (this.#entries.length > this.#limit * 2) this.#drop(this.#entries.length - this.#limit);
    this.advance(version);
  }

  /** Records that nothing else has changed up to a version, as a bookmark says it. Older versions are ignored. */
  advance(version: bigint): void {
    if (version > this.#versions.newest) this.#versions.newest = version;
    for (const listener of this.listeners) listener();
  }

  #drop(count: number): void {
    if (count <= 0) return;
    const last = this.#entries[count - 1] as LogEntry;
    if (last.version > this.floor) this.floor = last.version;
    this.#entries = this.#entries.slice(count);
    this.#dropped += count;
  }

  /** Forgets the changes up to a version. */
  compact(version: bigint): void {
    this.#drop(this.after(version) - this.#dropped);
    if (version > this.floor) this.floor = version;
  }

  /** Replaces everything by `objects` as of `version`, without changes before it. Open watches fall behind. */
  restore(objects: ReadonlyMap<string, StoredObject>, version: bigint): void {
    this.#dropped += this.#entries.length;
    this.#entries = [];
    this.floor = version;
    this.#versions.newest = version;
    this.objects.clear();
    for (const [key, object] of objects) this.objects.set(key, object);
    this.#sorted = undefined;
  }

  /** All objects in the order of their keys. */
  sorted(): StoredObject[] {
    this.#sorted ??= [...this.objects.keys()].sort();
    return this.#sorted.map((key) => this.objects.get(key) as StoredObject);
  }

  /** All objects as they were at a version that has not been compacted, in the order of their keys. */
  at(version: bigint): StoredObject[] {
    const start = this.after(version);
    if (start === this.end) return this.sorted();
    const then = new Map(this.objects);
    for (let position = this.end - 1; position >= start; position--) {
      const { key, previous } = this.entry(position) as LogEntry;
      if (previous === undefined) then.delete(key);
      else then.set(key, previous);
    }
    return [...then.keys()].sort().map((key) => then.get(key) as StoredObject);
  }
}
