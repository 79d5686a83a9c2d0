/**
 * The contents of a bucket as its publisher knows them, and the plan for the next set. A pure machine: no connection,
 * and time is an argument.
 */
import { joinMetaNamespaceKey } from '../../meta/key.ts';
import { isOlder } from '../../meta/resource-version.ts';
import { shownError } from '../../meta/shown-text.ts';
import { MOST_TERMS, type Term } from '../meta.ts';
import { stateOf, Tally } from '../tally.ts';
import {
  type Contents,
  type InBucket,
  inOrder,
  type Tombstone,
  type TooLargeObject,
  type UnwritableObject,
  type Wanted,
} from './contents.ts';
import {
  fits,
  objectMessage,
  type Planned,
  type RecordSettings,
  recordMessage,
  tombstoneMessage,
} from './messages.ts';

/** The part of a tombstone's time after which resuming readers can no longer rely on it. */
const RELIABLE = 0.7;

/** The contents of a bucket during one term of its publisher. */
export class Published {
  readonly #settings: RecordSettings;
  readonly #objects = new Map<string, InBucket>();
  readonly #tombstones = new Map<string, Tombstone>();
  readonly #records: Map<string, number>;
  /** The namespaces whose last record was written, and when: they have no objects and no tombstones. */
  readonly #ending = new Map<string, number>();
  readonly #total = new Tally();
  readonly #tallies = new Map<string, Tally>();
  readonly #tooLarge = new Map<string, number>();
  readonly #unwritable = new Map<string, string>();
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

  /** The name of this term, which its records show. */
  get writer(): string {
    return this.#terms.at(-1)?.writer ?? '';
  }

  /** Whether the bucket was written by a writer, as far as it knows. */
  hasWriter(writer: string): boolean {
    return this.#terms.some((term) => term.writer === writer);
  }

  get resourceVersion(): string {
    return this.#resourceVersion;
  }

  get count(): number {
    return this.#objects.size;
  }

  /** How many messages the bucket has at least: the objects and the records, without those that expire. */
  get leastMessages(): number {
    return this.#objects.size + this.#records.size - this.#ending.size;
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

  /** The objects that cannot be written as JSON. */
  get unwritable(): readonly UnwritableObject[] {
    return [...this.#unwritable].map(([key, message]) => ({ key, message }));
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
    let isBack = isOlder(resourceVersion, this.#resourceVersion);
    for (const wanted of inOrder(changes.map((each) => this.#current(each)))) {
      const message = this.#message(wanted, resourceVersion);
      if (message === undefined) continue;
      isBack ||= this.#isBack(wanted);
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
    const changed = new Set(messages.map(({ wanted }) => wanted?.namespace));
    const deleted = this.#deletedIn();
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
    const made = [...tallies].map(([namespace, tally]) => {
      const isKept = tally.count > 0 || changed.has(namespace) || deleted.has(namespace);
      return this.#record(namespace, tally, resourceVersion, isKept ? {} : { isFinal: true });
    });
    return [...made, this.#record('', total, resourceVersion)];
  }

  /**
   * A batch as it is sent. Each batch of a set writes the record of the collection, so that no other publisher can write
   * between two of them. Only the record in the last one ends the set.
   */
  guarded(batch: readonly Planned[], isLast: boolean): readonly Planned[] {
    if (!isLast) {
      const open = this.#record('', this.#total, this.#resourceVersion, { isOpen: true });
      return [...batch, open];
    }
    return batch.map((message) =>
      message.record === '' ? { ...message, expected: this.recordSequence } : message,
    );
  }

  /**
   * All namespaces with a message: a publisher that died within a set may have left objects without a record. Without those whose last
   * record was written, because namespaces that come and go would have heartbeats for ever.
   */
  namespaces(): string[] {
    const all = new Set([...this.#records.keys(), ...this.#tallies.keys(), ...this.#deletedIn()]);
    return [...all].filter((namespace) => !this.#ending.has(namespace));
  }

  /** The namespaces with tombstones. */
  #deletedIn(): ReadonlySet<string> {
    return new Set([...this.#tombstones.values()].map(({ namespace }) => namespace));
  }

  /** Notes that the server has stored messages. */
  stored(
    messages: readonly Planned[],
    first: number,
    resourceVersion: string,
    nowMs: number,
  ): void {
    for (const [at, { wanted, record, isOpen, isFinal }] of messages.entries()) {
      const sequence = first + at;
      this.#lastSequence = Math.max(this.#lastSequence, sequence);
      if (record !== undefined) {
        this.#records.set(record, sequence);
        this.#ending.delete(record);
        if (isFinal) this.#ending.set(record, nowMs);
        if (isFinal) this.#tallies.delete(record);
      }
      if (record === '' && isOpen !== true) this.#resourceVersion = resourceVersion;
      if (wanted === undefined) continue;
      const { namespace, name, uid, version } = wanted;
      const key = joinMetaNamespaceKey(wanted);
      this.#remove(key);
      this.#tombstones.delete(key);
      const { content } = this.#settings;
      if (!wanted.isDeletion) this.#put({ namespace, name, uid, version, content, sequence });
      else this.#tombstones.set(key, { namespace, name, version, sequence, atMs: nowMs });
    }
  }

  /** Raises the horizon above the tombstones that expire soon, and forgets tombstones and records that have expired. */
  age(nowMs: number): void {
    const { tombstoneMs } = this.#settings;
    for (const [key, { sequence, atMs }] of this.#tombstones) {
      const ageMs = nowMs - atMs;
      if (ageMs >= tombstoneMs * RELIABLE) this.#horizon = Math.max(this.#horizon, sequence);
      if (ageMs >= tombstoneMs) this.#tombstones.delete(key);
    }
    for (const [namespace, atMs] of this.#ending) {
      if (nowMs - atMs < tombstoneMs) continue;
      this.#ending.delete(namespace);
      this.#records.delete(namespace);
    }
  }

  /** A deletion whose version readers have passed is published like one that nobody saw, under the version of the set. */
  #current(wanted: Wanted): Wanted {
    const isNews = !wanted.isDeletion || isOlder(this.#resourceVersion, wanted.version);
    return isNews || this.#resourceVersion === '' ? wanted : { ...wanted, version: '' };
  }

  /** Whether readers have seen a version that is not older. */
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
    const { content } = this.#settings;
    const key = joinMetaNamespaceKey(wanted);
    const present = this.#objects.get(key);
    const { uid, version } = wanted;
    const expected = (present ?? this.#tombstones.get(key))?.sequence ?? 0;
    const remove = (gone: Wanted) => present && this.#tombstone(gone, resourceVersion, expected);
    this.#tooLarge.delete(key);
    this.#unwritable.delete(key);
    if (wanted.isDeletion) return remove(wanted);
    const isSame = present?.uid === uid && present.version === version;
    if (isSame && present.content === content) return undefined;
    const gone: Wanted = { ...wanted, isDeletion: true, text: () => '' };
    let made: ReturnType<typeof objectMessage>;
    try {
      made = objectMessage(this.#settings, wanted, expected);
    } catch (error) {
      this.#unwritable.set(key, shownError(error));
      return remove(gone);
    }
    const { message, bytes } = made;
    if (fits(this.#settings, bytes)) return message;
    this.#tooLarge.set(key, bytes);
    return remove(gone);
  }

  #tombstone(wanted: Wanted, resourceVersion: string, expected: number): Planned {
    const version = wanted.version === '' ? resourceVersion : wanted.version;
    return tombstoneMessage(this.#settings, { ...wanted, version }, expected);
  }

  #record(
    namespace: string,
    tally: Tally,
    resourceVersion: string,
    { isOpen, isFinal }: Pick<Planned, 'isOpen' | 'isFinal'> = {},
  ): Planned {
    const fields = {
      ...{ epoch: this.#epoch, terms: this.#terms, horizon: this.#horizon, resourceVersion },
      ...{ count: tally.count, digest: tally.digest },
      isOpen,
    };
    const expected = this.#records.get(namespace) ?? 0;
    return recordMessage(this.#settings, namespace, fields, { expected, isFinal });
  }
}
