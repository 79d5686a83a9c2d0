/**
 * The log of one resource: its current objects, and the changes since the last compaction. Each object carries its
 * version, which the writer of the log either counts itself or takes from the server that it copies.
 */
import { utf8 } from '../decode/utf8.ts';
import {
  eventText,
  keyOf,
  type LoggedResource,
  type StoredObject,
  sizeOf,
} from './stored-object.ts';

/** One change. */
export interface LogEntry {
  readonly kind: 'change';
  readonly version: bigint;
  readonly key: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** For a deletion, the last state with the version of the deletion. */
  readonly object: StoredObject;
  readonly previous: StoredObject | undefined;
  /** Whether the change is kept from all watches. */
  readonly silent: boolean;
  /** The length of the object's JSON, or 0 if the history has no limit of bytes. */
  readonly size: number;
  /** The event as a line of a watch without a selector, encoded once for all watches. */
  bytes(): Uint8Array;
}

/** How much history a collection keeps. */
export interface HistoryLimits {
  /** At least this many changes are kept, and at most twice as many. */
  readonly changes: number;
  /** The newest changes are kept whose objects have at most this much JSON together. */
  readonly bytes: number;
}

/** The newest version of a log, shared by the collections of one server. */
export interface NewestVersion {
  newest: bigint;
}

/** The objects of one resource and their changes. */
export class Collection<R extends LoggedResource = LoggedResource> {
  readonly served: R;
  readonly objects: Map<string, StoredObject> = new Map();
  /** Called after each change, each advance of the version and each restore. */
  readonly listeners: Set<() => void> = new Set();
  /** The oldest version from which all changes are known. */
  floor: bigint;
  /** All changes up to this version are recorded. */
  #complete: bigint;
  /** How many entries were dropped from the front. Positions count from the first entry that was ever appended. */
  #dropped = 0;
  #entries: LogEntry[] = [];
  #sorted: string[] | undefined;
  readonly #versions: NewestVersion;
  readonly #limits: HistoryLimits;
  #bytes = 0;

  constructor(served: R, versions: NewestVersion, limits: HistoryLimits) {
    this.served = served;
    this.floor = versions.newest;
    this.#complete = versions.newest;
    this.#versions = versions;
    this.#limits = limits;
  }

  /** The version that a list has now. */
  get version(): bigint {
    return this.#versions.newest;
  }

  /** The position after the last entry. */
  get end(): number {
    return this.#dropped + this.#entries.length;
  }

  /** The entry at a position; `undefined` at the end, and for a dropped entry. */
  entry(position: number): LogEntry | undefined {
    return this.#entries[position - this.#dropped];
  }

  /** Whether the log still contains all entries from this position on. */
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
   * Records a change with the version of the object. For a deletion, pass the last state of the object with the version
   * of the deletion. Throws a `RangeError` if the version is not newer than that of the last change, or than
   * a version recorded by `advance`.
   */
  append(type: LogEntry['type'], object: StoredObject, silent = false): void {
    const version = BigInt(object.metadata.resourceVersion);
    const key = keyOf(object);
    if (version <= this.#complete) {
      throw new RangeError(
        `cannot append ${type} ${key} at resourceVersion ${version}: the log is complete up to version ${this.#complete}`,
      );
    }
    const previous = this.objects.get(key);
    if (type === 'DELETED') this.objects.delete(key);
    else this.objects.set(key, object);
    if (type === 'DELETED' || previous === undefined) this.#sorted = undefined;
    let line: Uint8Array | undefined;
    const bytes = () => {
      line ??= utf8(eventText(type, object));
      return line;
    };
    const size = this.#limits.bytes === Number.POSITIVE_INFINITY ? 0 : sizeOf(object);
    const change = { kind: 'change', version, key, type, object, previous, silent, size } as const;
    this.#entries.push({ ...change, bytes });
    this.#bytes += size;
    this.#limitHistory();
    this.advance(version);
  }

  /** Records that there are no further changes up to a version, as after a bookmark. An older version is ignored. */
  advance(version: bigint): void {
    if (version > this.#complete) this.#complete = version;
    if (version > this.#versions.newest) this.#versions.newest = version;
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.listeners) listener();
  }

  /** Drops a part of the history at once, because each drop copies the rest. The newest change stays, whatever its size. */
  #limitHistory(): void {
    const { changes, bytes } = this.#limits;
    const { length } = this.#entries;
    if (length > changes * 2) this.#drop(length - changes);
    if (this.#bytes <= bytes) return;
    let count = 0;
    for (let left = this.#bytes; left > bytes * 0.75 && count < this.#entries.length - 1; count++) {
      left -= (this.#entries[count] as LogEntry).size;
    }
    this.#drop(count);
  }

  #drop(count: number): void {
    if (count <= 0) return;
    for (let at = 0; at < count; at++) this.#bytes -= (this.#entries[at] as LogEntry).size;
    const last = this.#entries[count - 1] as LogEntry;
    if (last.version > this.floor) this.floor = last.version;
    this.#entries = this.#entries.slice(count);
    this.#dropped += count;
  }

  /** Drops the changes up to a version. Throws a `RangeError` for a version that the log has not reached. */
  compact(version: bigint): void {
    if (version > this.version) {
      throw new RangeError(
        `cannot compact up to version ${version}: the newest version is ${this.version}`,
      );
    }
    this.#drop(this.after(version) - this.#dropped);
    if (version > this.floor) this.floor = version;
    if (version > this.#complete) this.#complete = version;
  }

  /** Replaces the contents with `objects` at `version` and drops all changes. Open watches then end with a 410. */
  restore(objects: ReadonlyMap<string, StoredObject>, version: bigint): void {
    // One more than there were entries, so that a watch that has read all of them falls behind, too.
    this.#dropped += this.#entries.length + 1;
    this.#entries = [];
    this.#bytes = 0;
    this.floor = version;
    this.#complete = version;
    this.#versions.newest = version;
    this.objects.clear();
    for (const [key, object] of objects) this.objects.set(key, object);
    this.#sorted = undefined;
    this.#notify();
  }

  /** All objects, sorted by key. */
  sorted(): StoredObject[] {
    this.#sorted ??= [...this.objects.keys()].sort();
    return this.#sorted.map((key) => this.objects.get(key) as StoredObject);
  }

  /** All objects at a version that was not compacted, sorted by key. */
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
