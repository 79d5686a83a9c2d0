/**
 * Folds the messages of a bucket into watch events. A pure machine: no connection, no time. Messages are collected and
 * become visible at the `_meta` record of the scope, which ends each published set.
 *
 * A list and a set are complete at a record whose digest is that of the received states. Another digest means that
 * messages are still to come: a large set is being published, or an object was changed again after the record, so that
 * its earlier message is gone. If none come, something was lost, and only a new list can show what: a 410.
 */
import { versionIn, type WatchEvent } from '../../decode/watch-event.ts';
import { ApiError } from '../../meta/api-error.ts';
import { joinMetaNamespaceKey } from '../../meta/key.ts';
import { hasSoundMetadata, type KubernetesObject } from '../../meta/kubernetes-object.ts';
import { isOlder, isResourceVersion } from '../../meta/resource-version.ts';
import { shownError } from '../../meta/shown-text.ts';
import { gone, unavailable } from '../failures.ts';
import { continues, type Meta, readMeta, writerOf } from '../meta.ts';
import type { Received } from '../received.ts';
import { stateOf, Tally } from '../tally.ts';
import { PastPlaces, type Place } from './past-places.ts';

/** The scope of a session, and its words for errors. */
export interface SessionScope {
  /** '' for the complete collection. */
  readonly namespace: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** The form of the objects that the reader needs; absent for any. */
  readonly content?: string | undefined;
  readonly where: string;
}

/** The result of one message. */
export type Folded<T> =
  /** The message belongs to a set that is not complete yet, or to another scope. */
  | { readonly kind: 'open' }
  /** The set is complete. In a list the events are those since the last `take`, and the list ends. */
  | { readonly kind: 'complete'; readonly events: readonly WatchEvent<T>[] }
  | { readonly kind: 'failed'; readonly error: ApiError };

const OPEN = { kind: 'open' } as const;

/** A message that waits for the `_meta` record. */
interface HeldMessage<T> {
  /** UID and version; `undefined` for a deletion. */
  readonly state: string | undefined;
  readonly event: Exclude<WatchEvent<T>, { type: 'ERROR' }>;
}

function failed<T>(error: ApiError): Folded<T> {
  return { kind: 'failed', error };
}

/** One reader's way through the history of a scope. */
export class Session<T extends KubernetesObject> {
  readonly #scope: SessionScope;
  /** The objects that the reader has, with their UIDs and versions. */
  readonly #known = new Map<string, string>();
  /**
   * The count and the digest of the objects as the waiting messages leave them. Each message updates it, because a reader that is
   * behind would become slower if each record counted all waiting messages.
   */
  readonly #tally = new Tally();
  /** The events of a list that were not taken yet. */
  #collected: WatchEvent<T>[] = [];
  /**
   * The last message of each key, in their order, until the set is complete. A publisher that died within a set and its
   * successor may have written one each, and an informer shows the events before a second event of a key as a set of
   * their own.
   */
  readonly #waiting = new Map<string, HeldMessage<T>>();
  /** Why the last message, a record, does not fit to what was received, if so. */
  #doubt: string | undefined;
  #place: Place | undefined;
  #hasRecord = true;
  readonly #past = new PastPlaces();

  constructor(scope: SessionScope) {
    this.#scope = scope;
  }

  /** The place of the last complete set; `undefined` until the list is complete. */
  get place(): Place | undefined {
    return this.#place;
  }

  /** Whether the place is one of the scope's own records. It is not while a namespace has never had an object. */
  get hasRecord(): boolean {
    return this.#hasRecord;
  }

  /** Whether messages wait for the record of their set. */
  get isWithinSet(): boolean {
    return this.#waiting.size > 0;
  }

  /** How many objects were collected. */
  get size(): number {
    return this.#known.size;
  }

  /** Begins with an empty scope, which has no `_meta` record of its own, at the record of the complete collection. */
  beginEmpty(meta: Meta, sequence: number): void {
    this.rewind();
    this.#past.clear();
    this.#settle(meta, sequence);
    this.#hasRecord = false;
  }

  /** Forgets the messages after the last complete set, because a new consumer delivers them again. */
  rewind(): void {
    for (const [key, { state }] of this.#waiting) {
      this.#tally.replace(key, state, this.#known.get(key));
    }
    this.#waiting.clear();
    this.#doubt = undefined;
  }

  /** A session that stands at a version at which this one has stood; `undefined` if it does not remember the version. */
  fork(resourceVersion: string): Session<T> | undefined {
    const now = this.#place;
    if (now === undefined || !this.#hasRecord) return undefined;
    const way = now.resourceVersion === resourceVersion ? [] : this.#past.wayBack(resourceVersion);
    if (way === undefined) return undefined;
    const fork = new Session<T>(this.#scope);
    for (const [key, state] of this.#known) fork.#set(key, state);
    for (const { before } of way) {
      for (const [key, state] of before) fork.#set(key, state);
    }
    fork.#place = way.at(-1)?.place ?? now;
    return fork;
  }

  #set(key: string, state: string | undefined): void {
    this.#tally.replace(key, this.#known.get(key), state);
    this.#know(key, state);
  }

  #know(key: string, state: string | undefined): void {
    if (state === undefined) this.#known.delete(key);
    else this.#known.set(key, state);
  }

  /** Takes the events of a list so far, so that a long list need not be kept in memory. */
  take(): readonly WatchEvent<T>[] {
    const events = this.#collected;
    this.#collected = [];
    return events;
  }

  /** Folds one message. */
  fold(message: Received): Folded<T> {
    const { meaning } = message;
    if (meaning === undefined) return OPEN;
    if (meaning.kind === 'meta') {
      return meaning.namespace === this.#scope.namespace ? this.#record(message) : OPEN;
    }
    this.#doubt = undefined;
    const key = joinMetaNamespaceKey(meaning);
    const waiting = this.#read(message, key);
    if (waiting instanceof ApiError) return failed(waiting);
    if (this.#place === undefined) this.#collect(key, waiting);
    else {
      const before = this.#waiting.get(key) ?? { state: this.#known.get(key) };
      this.#tally.replace(key, before.state, waiting.state);
      this.#waiting.delete(key);
      this.#waiting.set(key, waiting);
    }
    return OPEN;
  }

  /** In a list every message counts at once. A tombstone matters only if the object was collected before. */
  #collect(key: string, { state, event }: HeldMessage<T>): void {
    if (state === undefined && !this.#known.has(key)) return;
    this.#set(key, state);
    this.#collected.push(event);
  }

  #read(message: Received, key: string): HeldMessage<T> | ApiError {
    const { version, isDeletion, sequence } = message;
    const where = `${this.#scope.where}: message ${sequence} for ${key}`;
    const text = message.text();
    if (isDeletion) {
      const object = text === '' ? undefined : this.#parsed(text, where);
      if (object instanceof ApiError) return object;
      if (!isResourceVersion(version)) return this.#malformed(where, 'it has no version');
      const last = object === undefined ? {} : { object };
      const event = { type: 'DELETED', key, resourceVersion: version, ...last } as const;
      return { state: undefined, event };
    }
    const object = this.#parsed(text, where);
    if (object instanceof ApiError) return object;
    const type = this.#known.has(key) ? 'MODIFIED' : 'ADDED';
    return { state: stateOf(message), event: { type, key, object } };
  }

  #parsed(text: string, where: string): T | ApiError {
    try {
      const object: unknown = JSON.parse(text);
      if (typeof object === 'object' && object !== null && hasSoundMetadata(object))
        return object as T;
      return this.#malformed(where, 'it is not an object');
    } catch (error) {
      return this.#malformed(where, shownError(error));
    }
  }

  #malformed(where: string, why: string): ApiError {
    const message = `${where} cannot be read: ${why}; does something else write to this bucket?`;
    return ApiError.local('Malformed', message);
  }

  #record(message: Received): Folded<T> {
    const { where, apiVersion, kind, content } = this.#scope;
    const meta = readMeta(message.text());
    if (meta === undefined) {
      return failed(
        this.#malformed(`${where}: _meta at ${message.sequence}`, 'a field is missing'),
      );
    }
    if (meta.apiVersion !== apiVersion || meta.kind !== kind) {
      const words = `the bucket carries ${meta.kind} of ${meta.apiVersion}, not ${kind} of ${apiVersion}`;
      return failed(ApiError.local('WrongKind', `${where}: ${words}`));
    }
    if (content !== undefined && meta.content !== content) {
      const words = `the bucket carries the content '${meta.content ?? ''}', not '${content}'`;
      return failed(ApiError.local('WrongKind', `${where}: ${words}`));
    }
    if (meta.isOpen === true) {
      this.#doubt = undefined;
      return OPEN;
    }
    return this.#place === undefined
      ? this.#endList(meta, message.sequence)
      : this.#endSet(meta, message, this.#place);
  }

  #endList(meta: Meta, sequence: number): Folded<T> {
    if (this.#tally.digest !== meta.digest) return OPEN;
    const events = this.take();
    this.#settle(meta, sequence);
    return { kind: 'complete', events };
  }

  #endSet(meta: Meta, { sequence, pending }: Received, place: Place): Folded<T> {
    const mismatch = this.#mismatch(meta, sequence, place);
    if (mismatch !== undefined) return failed(gone(this.#scope.where, mismatch));
    if (this.#tally.digest !== meta.digest) return this.#hold(meta, pending);
    const events: WatchEvent<T>[] = [];
    const before: [string, string | undefined][] = [];
    let newest = place.resourceVersion;
    for (const [key, { state, event }] of this.#waiting) {
      if (this.#known.get(key) === state) continue;
      const version = versionIn(event);
      if (isOlder(version, newest)) {
        const why = `${key} has version ${version}, which is older than ${newest}, without a new epoch`;
        return failed(gone(this.#scope.where, why));
      }
      newest = version;
      before.push([key, this.#known.get(key)]);
      this.#know(key, state);
      events.push(event);
    }
    this.#waiting.clear();
    const hasMoved = isOlder(place.resourceVersion, meta.resourceVersion);
    this.#settle(meta, sequence);
    if (hasMoved || events.length > 0) {
      this.#past.remember({ place, before });
      const { resourceVersion } = meta;
      events.push({ type: 'BOOKMARK', resourceVersion, initialEventsEnd: false });
    }
    return { kind: 'complete', events };
  }

  /**
   * Waits for the messages that the set lacks. `pending` is no proof that none follow, because the server counts a
   * message a moment after it has stored it; so only another record, or a quiet consumer, shows that they are lost.
   */
  #hold(meta: Meta, pending: number): Folded<T> {
    if (pending > 0) {
      this.#doubt = undefined;
      return OPEN;
    }
    const isRepeated = this.#doubt !== undefined;
    const difference =
      meta.count === this.#tally.count
        ? `the bucket has other versions of some of its ${meta.count} objects than the reader`
        : `the bucket has ${meta.count} objects and the reader ${this.#tally.count}`;
    this.#doubt = `${difference}, so messages were lost or a deletion has expired`;
    return isRepeated ? failed(gone(this.#scope.where, this.#doubt)) : OPEN;
  }

  /** The server has no message for this reader. Returns an error if one is missing. */
  quiet(): ApiError | undefined {
    return this.#doubt === undefined ? undefined : gone(this.#scope.where, this.#doubt);
  }

  /** Why a record does not continue what was received before, if it does not. */
  #mismatch(meta: Meta, sequence: number, place: Place): string | undefined {
    if (meta.epoch !== place.epoch) return 'the bucket has begun a new epoch';
    if (!continues(meta, place.writer, place.sequence) || sequence < place.sequence) {
      return `the bucket has lost messages before sequence ${place.sequence}; was the store restored from a copy?`;
    }
    if (meta.horizon > place.sequence) {
      return `deletions after sequence ${place.sequence} have expired; the horizon is ${meta.horizon}`;
    }
    if (isOlder(meta.resourceVersion, place.resourceVersion)) {
      return `the version ${meta.resourceVersion} is older than ${place.resourceVersion}`;
    }
    return undefined;
  }

  #settle(meta: Meta, sequence: number): void {
    const { epoch, resourceVersion, heartbeatMs } = meta;
    this.#place = { sequence, epoch, writer: writerOf(meta), resourceVersion, heartbeatMs };
    this.#hasRecord = true;
    this.#doubt = undefined;
  }
}

/** The error of a list that does not become complete. */
export function unfinished(scope: SessionScope, collected: number): ApiError {
  const words = `collected ${collected} objects, and no \`_meta\` record is about exactly these; either a publisher is writing a large set, or it ended within one, or messages were lost; look at the publisher`;
  const message = `${scope.where}: ${words}`;
  return unavailable(message);
}
