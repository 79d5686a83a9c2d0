/** A reader's ListerWatcher and informer in steps, and a judge of all that it is told. */
import type { WatchEvent } from 'rx-informer';
import { versionOf } from '../../../lib/meta/kubernetes-object.ts';
import { isOlder } from '../../../lib/meta/resource-version.ts';
import { ShownHistory } from '../../../lib/nats/read/past-places.ts';
import { Session } from '../../../lib/nats/read/session.ts';
import type { ModelBucket } from './model-bucket.ts';
import { type ModelCluster, type Pod, type State, stateOf } from './model-cluster.ts';

type Event = WatchEvent<Pod>;

function words(state: State): string {
  return [...state]
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(' ');
}

export class ModelReader {
  readonly #bucket: ModelBucket;
  readonly #cluster: ModelCluster;
  readonly namespace: string;
  readonly #name: string;
  #session: Session<Pod>;
  /** The next sequence; absent while there is no consumer. */
  #next: number | undefined;
  /** The objects of a list that is not complete. */
  #listing = new Map<string, string>();
  #store = new Map<string, string>();
  #told = new Set<string>();
  #epoch = '';
  readonly #history = new ShownHistory();
  #newest = '';
  #isSynced = false;
  relists = 0;
  sets = 0;
  /** The reasons of lists after the first. */
  readonly reasons: string[] = [];
  readonly mistakes: string[] = [];

  constructor(bucket: ModelBucket, cluster: ModelCluster, namespace: string, name: string) {
    this.#bucket = bucket;
    this.#cluster = cluster;
    this.namespace = namespace;
    this.#name = name;
    this.#session = this.#begin();
  }

  #begin(): Session<Pod> {
    const where = this.#name;
    return new Session({ namespace: this.namespace, apiVersion: 'v1', kind: 'Pod', where });
  }

  get store(): State {
    return this.#store;
  }

  /** The API server's history has changed, so earlier states may come again. */
  forget(): void {
    this.#told.clear();
  }

  /** The connection is lost. */
  disconnect(): void {
    this.#next = undefined;
    if (this.#session.place === undefined) this.#relist();
    else this.#session.rewind();
  }

  /** Receives some messages. */
  read(most: number): void {
    for (let left = most; left > 0; left--) {
      this.#next ??= this.#open();
      if (this.#next === undefined) return;
      const message = this.#bucket.next(this.namespace, this.#next);
      if (message === undefined) return this.#idle();
      this.#next = message.sequence + 1;
      const { place } = this.#session;
      const folded = this.#session.fold(message);
      if (folded.kind === 'failed') return this.#fail(folded.error.code, folded.error.message);
      if (folded.kind === 'open') continue;
      if (place === undefined) this.#listed(folded.events);
      else this.#changed(folded.events);
      // A list that was refused is tried again later.
      if (this.#session.place === undefined) return;
    }
  }

  #open(): number | undefined {
    const { place, hasRecord } = this.#session;
    if (place !== undefined) {
      const isThere = this.#bucket.next(this.namespace, place.sequence) !== undefined;
      if (isThere || !hasRecord) return place.sequence;
      this.#fail(410, `sequence ${place.sequence} is not in the bucket`);
      return undefined;
    }
    if (this.#bucket.next(this.namespace, 1) !== undefined) return 1;
    const whole = this.namespace === '' ? undefined : this.#bucket.whole();
    if (whole === undefined || whole.meta.isOpen === true) return undefined;
    this.#session.beginEmpty(whole.meta, whole.sequence);
    this.#listed([]);
    return this.#session.place?.sequence;
  }

  /** A namespace without objects has no heartbeats of its own, so the reader looks at those of the collection. */
  #idle(): void {
    const { place, hasRecord } = this.#session;
    const error = this.#session.quiet();
    if (error !== undefined) return this.#fail(error.code, error.message);
    const whole = this.#bucket.whole();
    if (place === undefined || hasRecord || whole === undefined) return;
    if (whole.meta.isOpen === true) return;
    const { meta, sequence } = whole;
    if (sequence === place.sequence) return;
    if (meta.epoch !== place.epoch || sequence < place.sequence) {
      return this.#fail(410, 'the bucket has begun a new epoch');
    }
    this.#session.beginEmpty(meta, sequence);
  }

  #relist(): void {
    this.#session = this.#begin();
    this.#listing.clear();
    this.#next = undefined;
  }

  #fail(code: number, why: string): void {
    if (code !== 410) this.#wrong(`error ${code}: ${why}`);
    this.reasons.push(why);
    this.#relist();
  }

  #wrong(why: string): void {
    this.mistakes.push(`${this.#name}: ${why}`);
  }

  #collect(events: readonly Event[], into: Map<string, string>): void {
    for (const event of events) {
      if (event.type === 'ADDED' || event.type === 'MODIFIED') {
        into.set(event.key, stateOf(event.object));
      }
      if (event.type === 'DELETED') into.delete(event.key);
    }
  }

  #listed(events: readonly Event[]): void {
    this.#collect(events, this.#listing);
    const { place } = this.#session;
    if (place === undefined || this.#history.outdated(place) !== undefined) return this.#relist();
    if (this.#isSynced) this.relists++;
    this.#isSynced = true;
    // The informer reports the difference between the list and its store.
    for (const [key, state] of this.#listing) {
      if (this.#store.get(key) !== state) this.#tell(key, state);
    }
    this.#store = new Map(this.#listing);
    this.#stands();
  }

  #changed(events: readonly Event[]): void {
    let newest = this.#newest;
    // An informer commits the events before a second event of a key on their own, and so shows half a set.
    const keys = events.flatMap((event) => ('key' in event ? [event.key] : []));
    if (new Set(keys).size !== keys.length) this.#wrong(`told of a key twice in a set: ${keys}`);
    for (const event of events) {
      if (event.type === 'ERROR') continue;
      const version =
        event.type === 'DELETED' || event.type === 'BOOKMARK'
          ? event.resourceVersion
          : versionOf((event as { object: Pod }).object);
      if (isOlder(version, newest)) this.#wrong(`told version ${version} after ${newest}`);
      newest = version;
      if (event.type === 'BOOKMARK') continue;
      const { key } = event as { key: string };
      const had = this.#store.get(key);
      if (event.type === 'DELETED') {
        if (had === undefined) this.#wrong(`told of the deletion of ${key}, which it did not have`);
        this.#store.delete(key);
        continue;
      }
      const state = stateOf((event as { object: Pod }).object);
      if (had === state) this.#wrong(`told ${key} twice`);
      this.#tell(key, state);
      this.#store.set(key, state);
    }
    this.sets += Number(events.length > 0);
    this.#stands();
  }

  #tell(key: string, state: string): void {
    const words = `${key}=${state}`;
    if (this.#told.has(words)) this.#wrong(`told ${words} again`);
    this.#told.add(words);
  }

  /** What was told, folded, is what the API server had at the version. */
  #stands(): void {
    const { place } = this.#session;
    if (place === undefined) return;
    this.#history.shown(place);
    const { epoch, resourceVersion } = place;
    if (epoch === this.#epoch && isOlder(resourceVersion, this.#newest)) {
      this.#wrong(`stands at ${resourceVersion} after ${this.#newest}`);
    }
    this.#epoch = epoch;
    this.#newest = resourceVersion;
    const mine = words(this.#store);
    const had = this.#cluster
      .statesAt(Number(resourceVersion))
      .map((state) => words(inScope(state, this.namespace)));
    if (had.includes(mine)) return;
    this.#wrong(`at ${resourceVersion} has ${mine} and the API server had ${had.join(' or ')}`);
  }
}

/** The objects of a namespace; '' for all. */
export function inScope(state: State, namespace: string): State {
  if (namespace === '') return state;
  return new Map([...state].filter(([key]) => key.startsWith(`${namespace}/`)));
}
