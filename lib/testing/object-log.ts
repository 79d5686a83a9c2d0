/**
 * The truth of the fake server, as etcd keeps it: one counter of versions, the objects as they are, and per
 * resource the changes that led there, as far back as the last compaction.
 */
import { resourceName } from '../meta/resource.ts';
import type { ServedResource } from './served-resource.ts';
import { eventText, keyOf, type StoredObject } from './stored-object.ts';

/** One change. */
export interface LogEntry {
  readonly version: bigint;
  readonly key: string;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** Of a deletion: the last state, under the version of the deletion. */
  readonly object: StoredObject;
  readonly previous: StoredObject | undefined;
  /** Never shown to a watch. */
  readonly silent: boolean;
  /** The line of a watch that needs no selector; written out once. */
  bytes(): Uint8Array;
}

const encoder = /* @__PURE__ */ new TextEncoder();

/** The objects of one resource and their changes. */
export class Collection {
  readonly served: ServedResource;
  readonly objects: Map<string, StoredObject> = new Map();
  /** Called after each change. */
  readonly listeners: Set<() => void> = new Set();
  /** Nothing is known of versions before this one. */
  floor: bigint;
  /** How many entries have been dropped from the front: positions count from the first entry ever. */
  #dropped = 0;
  #entries: LogEntry[] = [];
  #sorted: string[] | undefined;
  readonly #limit: number;

  constructor(served: ServedResource, floor: bigint, limit: number) {
    this.served = served;
    this.floor = floor;
    this.#limit = limit;
  }

  /** The position after the last entry. */
  get end(): number {
    return this.#dropped + this.#entries.length;
  }

  /** The entry at a position; `undefined` at the end, or where it has been dropped. */
  entry(position: number): LogEntry | undefined {
    return this.#entries[position - this.#dropped];
  }

  /** Whether the entries from a position on are still there. */
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

  append(
    type: LogEntry['type'],
    object: StoredObject,
    previous: StoredObject | undefined,
    silent: boolean,
  ): void {
    const key = keyOf(object);
    if (type === 'DELETED') this.objects.delete(key);
    else this.objects.set(key, object);
    if (type !== 'MODIFIED') this.#sorted = undefined;
    let line: Uint8Array | undefined;
    const bytes = () => {
      line ??= encoder.encode(eventText(type, object));
      return line;
    };
    const version = BigInt(object.metadata.resourceVersion);
    this.#entries.push({ version, key, type, object, previous, silent, bytes });
    if (this.#entries.length > this.#limit * 2) this.#drop(this.#entries.length - this.#limit);
    for (const listener of this.listeners) listener();
  }

  #drop(count: number): void {
    if (count <= 0) return;
    const last = this.#entries[count - 1] as LogEntry;
    if (last.version > this.floor) this.floor = last.version;
    this.#entries = this.#entries.slice(count);
    this.#dropped += count;
  }

  compact(version: bigint): void {
    this.#drop(this.after(version) - this.#dropped);
    if (version > this.floor) this.floor = version;
  }

  /** Forgets everything, and holds `objects` as of `version`. */
  restore(objects: ReadonlyMap<string, StoredObject>, version: bigint): void {
    this.#dropped += this.#entries.length;
    this.#entries = [];
    this.floor = version;
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

/** A copy of the whole state, to go back to. */
export interface Snapshot {
  readonly resourceVersion: string;
  readonly objects: ReadonlyMap<string, ReadonlyMap<string, StoredObject>>;
}

/** All collections and the counter they share. */
export class ObjectLog {
  readonly collections: Map<string, Collection> = new Map();
  readonly #historyLimit: number;
  version: bigint;

  constructor(options: { initialVersion: bigint; historyLimit: number }) {
    this.version = options.initialVersion;
    this.#historyLimit = options.historyLimit;
  }

  add(served: ServedResource): void {
    const collection = new Collection(served, this.version, this.#historyLimit);
    this.collections.set(resourceName(served.resource), collection);
  }

  /** The next version: every change takes one. */
  nextVersion(): string {
    this.version += 1n;
    return String(this.version);
  }

  compact(version: bigint): void {
    for (const collection of this.collections.values()) collection.compact(version);
  }

  snapshot(): Snapshot {
    const objects = new Map<string, ReadonlyMap<string, StoredObject>>();
    for (const [name, collection] of this.collections)
      objects.set(name, new Map(collection.objects));
    return { resourceVersion: String(this.version), objects };
  }

  restore(snapshot: Snapshot): void {
    this.version = BigInt(snapshot.resourceVersion);
    for (const [name, collection] of this.collections) {
      collection.restore(snapshot.objects.get(name) ?? new Map(), this.version);
    }
  }
}
