/**
 * The contents of a bucket as its publisher knows them, and the plan for the next set. A pure machine: no connection,
 * and time is an argument.
 */
import { joinMetaNamespaceKey } from '../../meta/key.ts';
import { isOlder } from '../../meta/resource-version.ts';
import { DELETE, HEADERS, metaSubject, objectSubject } from '../layout.ts';
import { type Meta, MOST_TERMS, type Term } from '../meta.ts';
import { stateOf, Tally } from '../tally.ts';
import { HEADER_BYTES, type Planned } from './batches.ts';
import type { Contents, InBucket, Tombstone, TooLargeObject, Wanted } from './contents.ts';

/** The settings of a publisher that its records show. */
export interface RecordSettings {
  readonly prefix: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly content?: string | undefined;
  /** How often the records are written if nothing changes, in milliseconds. */
  readonly heartbeatMs: number;
  /** How long the server keeps the message of a deletion, in milliseconds. */
  readonly tombstoneMs: number;
  /** The largest message, in bytes, headers included. */
  readonly maxPayload: number;
}

/** The part of a tombstone's time after which resuming readers can no longer rely on it. */
const RELIABLE = 0.7;

const encoder = /* @__PURE__ */ new TextEncoder();

/** Deletions that nobody saw come last, under the version of the list; all others in the order of versions. */
function inOrder(wanted: readonly Wanted[]): Wanted[] {
  return [...wanted].sort((a, b) => {
    if (a.version === '' || b.version === '') {
      return (a.version === '' ? 1 : 0) - (b.version === '' ? 1 : 0);
    }
    if (isOlder(a.version, b.version)) return -1;
    return isOlder(b.version, a.version) ? 1 : 0;
  });
}

/** The contents of a bucket during one term of its publisher. */
export class Published {
  readonly #settings: RecordSettings;
  readonly #objects = new Map<string, InBucket>();
  readonly #tombstones = new Map<string, Tombstone>();
  readonly #records: Map<string, number>;
  readonly #total = new Tally();
  readonly #tallies = new Map<string, Tally>();
  readonly #tooLarge = new Map<string, number>();
  readonly #terms: readonly Term[];
  #epoch: string;
  #resourceVersion: string;
  #horizon: number;
  #lastSequence: number;

  constructor(settings: RecordSettings, contents: Contents, writer: string, newEpoch: string) {
    this.#settings = settings;
    const { meta, last } = contents;
    for (const object of contents.objects) this.#put(object);
    for (const tombstone of contents.tombstones)
      this.#tombstones.set(joinMetaNamespaceKey(tombstone), tombstone);
    this.#records = new Map(contents.records);
    const terms = meta?.terms ?? [];
    this.#terms =
      terms.at(-1)?.writer === writer
        ? terms
        : [...terms, { writer, after: last }].slice(-MOST_TERMS);
    this.#epoch = meta?.epoch ?? newEpoch;
    this.#resourceVersion = meta?.resourceVersion ?? '';
    this.#horizon = meta?.horizon ?? 0;
    this.#lastSequence = last;
  }

  get epoch(): string {
    return this.#epoch;
  }

  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  get count(): number {
    return this.#objects.size;
  }

  /** How many messages the bucket has at least: the objects and the records, without tombstones, which may expire. */
  get leastMessages(): number {
    return this.#objects.size + this.#records.size;
  }

  /** The sequence of the last record of the collection; 0 if there is none. */
  get recordSequence(): number {
    return this.#records.get('') ?? 0;
  }

  get lastSequence(): number {
    return this.#lastSequence;
  }

  /** The objects that are too large for a message. */
  get tooLarge(): readonly TooLargeObject[] {
    return [...this.#tooLarge].map(([key, bytes]) => ({ key, bytes }));
  }

  /** The names of the objects in the bucket, for a comparison. */
  objects(): Iterable<InBucket> {
    return this.#objects.values();
  }

  /** Begins a new history: readers have to list again. */
  beginEpoch(epoch: string): void {
    this.#epoch = epoch;
    this.#horizon = this.#lastSequence;
  }

  /**
   * Plans the messages of the changes: objects in the order of their versions, then the records. Returns no messages
   * if the bucket has these states already. `isBack` says whether a change is older than the published version, so that
   * the changes need a new epoch.
   */
  plan(
    changes: readonly Wanted[],
    resourceVersion: string,
  ): { readonly messages: readonly Planned[]; readonly isBack: boolean } {
    const messages: Planned[] = [];
    const touched = new Set<string>();
    let isBack = isOlder(resourceVersion, this.#resourceVersion);
    for (const wanted of inOrder(changes)) {
      const message = this.#message(wanted, resourceVersion);
      if (message === undefined) continue;
      isBack ||= this.#isBack(wanted);
      touched.add(wanted.namespace);
      messages.push(message);
    }
    return { messages, isBack };
  }

  /** The records of the touched namespaces and of the collection, as they are after the given messages. */
  records(
    messages: readonly Planned[],
    resourceVersion: string,
    namespaces: Iterable<string>,
  ): Planned[] {
    const total = this.#total.copy();
    const tallies = new Map<string, Tally>();
    const tallyOf = (namespace: string): Tally => {
      const known = tallies.get(namespace);
      if (known !== undefined) return known;
      const tally = this.#tallies.get(namespace)?.copy() ?? new Tally();
      tallies.set(namespace, tally);
      return tally;
    };
    for (const namespace of namespaces) tallyOf(namespace);
    for (const { wanted } of messages) {
      if (wanted === undefined) continue;
      const key = joinMetaNamespaceKey(wanted);
      const present = this.#objects.get(key);
      const before = present && stateOf(present);
      const after = wanted.isDeletion ? undefined : stateOf(wanted);
      tallyOf(wanted.namespace).replace(key, before, after);
      total.replace(key, before, after);
    }
    tallies.delete('');
    const made = [...tallies].map(([namespace, tally]) =>
      this.#record(namespace, tally, resourceVersion),
    );
    return [...made, this.#record('', total, resourceVersion)];
  }

  /** All namespaces with a record or an object: a publisher that died within a set may have left objects without a record. */
  namespaces(): string[] {
    return [...new Set([...this.#records.keys(), ...this.#tallies.keys()])];
  }

  /** Notes that the server has stored messages. */
  stored(
    messages: readonly Planned[],
    first: number,
    resourceVersion: string,
    nowMs: number,
  ): void {
    for (const [at, { wanted, record }] of messages.entries()) {
      const sequence = first + at;
      this.#lastSequence = Math.max(this.#lastSequence, sequence);
      if (record !== undefined) this.#records.set(record, sequence);
      if (record === '') this.#resourceVersion = resourceVersion;
      if (wanted === undefined) continue;
      const { namespace, name, uid, version } = wanted;
      this.#remove(joinMetaNamespaceKey(wanted));
      if (wanted.isDeletion) {
        this.#tombstones.set(joinMetaNamespaceKey(wanted), {
          namespace,
          name,
          sequence,
          atMs: nowMs,
        });
      } else {
        this.#tombstones.delete(joinMetaNamespaceKey(wanted));
        this.#put({ namespace, name, uid, version, sequence });
      }
    }
  }

  /** Raises the horizon above the tombstones that expire soon, and forgets those that have expired. */
  age(nowMs: number): void {
    const { tombstoneMs } = this.#settings;
    for (const [key, { sequence, atMs }] of this.#tombstones) {
      const ageMs = nowMs - atMs;
      if (ageMs >= tombstoneMs * RELIABLE) this.#horizon = Math.max(this.#horizon, sequence);
      if (ageMs >= tombstoneMs) this.#tombstones.delete(key);
    }
  }

  /** Whether readers have seen a version that is not older. A deletion then gets the version of the list instead. */
  #isBack({ namespace, name, version, uid, isDeletion }: Wanted): boolean {
    if (isDeletion || this.#resourceVersion === '') return false;
    if (!isOlder(this.#resourceVersion, version)) return true;
    const present = this.#objects.get(joinMetaNamespaceKey({ namespace, name }));
    return present?.uid === uid && isOlder(version, present.version);
  }

  #put(object: InBucket): void {
    const key = joinMetaNamespaceKey(object);
    this.#count(object.namespace, key, stateOf(object));
    this.#objects.set(key, object);
  }

  #remove(key: string): void {
    const present = this.#objects.get(key);
    if (present === undefined) return;
    this.#count(present.namespace, key, undefined);
    this.#objects.delete(key);
  }

  #count(namespace: string, key: string, after: string | undefined): void {
    const present = this.#objects.get(key);
    const before = present && stateOf(present);
    const tally = this.#tallies.get(namespace) ?? new Tally();
    this.#tallies.set(namespace, tally);
    tally.replace(key, before, after);
    this.#total.replace(key, before, after);
  }

  #message(wanted: Wanted, resourceVersion: string): Planned | undefined {
    const key = joinMetaNamespaceKey(wanted);
    const present = this.#objects.get(key);
    const { uid, version } = wanted;
    if (wanted.isDeletion) this.#tooLarge.delete(key);
    if (wanted.isDeletion) return present && this.#tombstone(wanted, resourceVersion);
    if (present?.uid === uid && present.version === version) return undefined;
    const body = encoder.encode(wanted.text());
    if (body.length + HEADER_BYTES > this.#settings.maxPayload) {
      this.#tooLarge.set(key, body.length);
      const gone: Wanted = { ...wanted, isDeletion: true, text: () => '' };
      return present && this.#tombstone(gone, resourceVersion);
    }
    this.#tooLarge.delete(key);
    const headers = { [HEADERS.uid]: uid, [HEADERS.version]: version };
    return { ...this.#address(wanted), body, headers, wanted };
  }

  #tombstone(wanted: Wanted, resourceVersion: string): Planned {
    const text = encoder.encode(wanted.text());
    const fits = text.length + HEADER_BYTES <= this.#settings.maxPayload;
    const isNews = isOlder(this.#resourceVersion, wanted.version);
    const headers = {
      [HEADERS.operation]: DELETE,
      [HEADERS.ttl]: `${Math.ceil(this.#settings.tombstoneMs / 1000)}s`,
      [HEADERS.uid]: wanted.uid,
      [HEADERS.version]: isNews ? wanted.version : resourceVersion,
    };
    return {
      ...this.#address(wanted),
      body: fits ? text : new Uint8Array(),
      headers,
      wanted,
    };
  }

  #address({ namespace, name }: Wanted): { subject: string; expected: number } {
    const key = joinMetaNamespaceKey({ namespace, name });
    const last = this.#objects.get(key) ?? this.#tombstones.get(key);
    const subject = objectSubject(this.#settings.prefix, namespace, name);
    return { subject, expected: last?.sequence ?? 0 };
  }

  #record(namespace: string, tally: Tally, resourceVersion: string): Planned {
    const { prefix, apiVersion, kind, content, heartbeatMs } = this.#settings;
    const meta: Meta = {
      epoch: this.#epoch,
      terms: this.#terms,
      resourceVersion,
      count: tally.count,
      digest: tally.digest,
      horizon: this.#horizon,
      heartbeatMs,
      apiVersion,
      kind,
      ...(content === undefined ? {} : { content }),
    };
    return {
      subject: metaSubject(prefix, namespace),
      body: encoder.encode(JSON.stringify(meta)),
      headers: {},
      expected: this.#records.get(namespace) ?? 0,
      record: namespace,
    };
  }
}
