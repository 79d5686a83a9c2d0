/** An API server's collection with its complete history, and an informer that follows it with a delay. */
import type { KubernetesObject } from 'rx-informer';
import { present, type Wanted } from '../../../lib/nats/publish/contents.ts';

/** An object with the fields that the tests need. */
export type Pod = KubernetesObject & { readonly size?: string };

/** Keys with UIDs and versions. */
export type State = ReadonlyMap<string, string>;

interface Event {
  readonly version: number;
  readonly key: string;
  /** The object, or its last state with the version of the deletion. */
  readonly object: Pod;
  readonly isDeletion: boolean;
}

/** The size of an object that is too large for a message. */
export const LARGE = 3_000;

export const stateOf = ({ metadata }: KubernetesObject) =>
  `${metadata?.uid}/${metadata?.resourceVersion}`;

export class ModelCluster {
  #objects = new Map<string, Pod>();
  #uids = 0;
  #events: Event[] = [];
  version = 10;
  /** The states of the collection at each version, one for each history. */
  readonly #states = new Map<number, State[]>();
  /** How often the API server was restored from a backup. */
  histories = 0;

  constructor() {
    this.#note();
  }

  #note(): void {
    const fitting = [...this.#objects].filter(([, { size = '' }]) => size.length < LARGE);
    const state: State = new Map(fitting.map(([key, pod]) => [key, stateOf(pod)]));
    this.#states.set(this.version, [...(this.#states.get(this.version) ?? []), state]);
  }

  get objects(): ReadonlyMap<string, Pod> {
    return this.#objects;
  }

  /** The states that the collection had at a version, or at the last change before it. */
  statesAt(version: number): readonly State[] {
    for (let at = version; at >= 10; at--) {
      const states = this.#states.get(at);
      if (states !== undefined) return states;
    }
    return [];
  }

  /** Creates or changes an object. */
  put(key: string, size = ''): void {
    const [namespace = '', name = ''] = key.split('/');
    const uid = this.#objects.get(key)?.metadata?.uid ?? `u${++this.#uids}`;
    const resourceVersion = String(++this.version);
    const object: Pod = { metadata: { namespace, name, uid, resourceVersion }, size };
    this.#objects.set(key, object);
    this.#events.push({ version: this.version, key, object, isDeletion: false });
    this.#note();
  }

  remove(key: string): void {
    const last = this.#objects.get(key);
    if (last === undefined) return;
    const resourceVersion = String(++this.version);
    const object: Pod = { ...last, metadata: { ...last.metadata, resourceVersion } };
    this.#objects.delete(key);
    this.#events.push({ version: this.version, key, object, isDeletion: true });
    this.#note();
  }

  /** The version rises without a change, because other collections change. */
  advance(): void {
    this.version++;
    this.#note();
  }

  /** The events after a version. */
  eventsAfter(version: number): readonly Event[] {
    return this.#events.filter((event) => event.version > version);
  }

  /** Goes back to an older state, as an API server that is restored from a backup. Objects get new UIDs. */
  restoreBackup(objects: ReadonlyMap<string, Pod>, version: number): void {
    this.histories++;
    this.version = version;
    this.#objects = new Map(objects);
    this.#events = [];
    this.#note();
  }
}

/** The informer of a publisher. */
export class ModelInformer {
  readonly #cluster: ModelCluster;
  #store = new Map<string, Pod>();
  #history = 0;
  version = 0;
  #pending = new Map<string, Wanted>();
  mustCompare = true;

  constructor(cluster: ModelCluster) {
    this.#cluster = cluster;
    this.relist();
  }

  get isBehind(): boolean {
    return this.version !== this.#cluster.version || this.#history !== this.#cluster.histories;
  }

  get store(): ReadonlyMap<string, Pod> {
    return this.#store;
  }

  get waiting(): number {
    return this.#pending.size;
  }

  take(): Wanted[] {
    const changes = [...this.#pending.values()];
    this.#pending = new Map();
    return changes;
  }

  #want(key: string, wanted: Wanted): void {
    if (!this.mustCompare) this.#pending.set(key, wanted);
  }

  /** Receives some events of a watch. */
  follow(most: number): void {
    if (this.#history !== this.#cluster.histories) return this.relist();
    for (const { key, object, isDeletion, version } of this.#cluster
      .eventsAfter(this.version)
      .slice(0, most)) {
      if (isDeletion) this.#store.delete(key);
      else this.#store.set(key, object);
      this.#want(key, { ...present(key, object), isDeletion });
      this.version = version;
    }
    if (this.#cluster.eventsAfter(this.version).length === 0) this.version = this.#cluster.version;
  }

  /** Lists again: deletions in between were seen by nobody. */
  relist(): void {
    const { objects, version, histories } = this.#cluster;
    for (const [key, object] of this.#store) {
      if (objects.has(key)) continue;
      const nobody = { version: '', isDeletion: true, text: () => '' };
      this.#want(key, { ...present(key, object), ...nobody });
    }
    for (const [key, object] of objects) {
      const had = this.#store.get(key);
      if (had === undefined || stateOf(had) !== stateOf(object)) {
        this.#want(key, present(key, object));
      }
    }
    this.#store = new Map(objects);
    this.#history = histories;
    this.version = version;
  }
}
