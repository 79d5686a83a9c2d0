/** The collections of one server. They share one newest version, like the resources in one etcd. */
import { resourceName } from '../meta/resource.ts';
import { Collection, type HistoryLimits, type NewestVersion } from './collection.ts';
import type { LoggedResource, StoredObject } from './stored-object.ts';

/** A copy of the complete state, to restore later. */
export interface Snapshot {
  readonly resourceVersion: string;
  readonly objects: ReadonlyMap<string, ReadonlyMap<string, StoredObject>>;
}

/** All collections and their shared version. */
export class ObjectLog<R extends LoggedResource = LoggedResource> {
  /** The collections by the name of the resource: `pods`, `deployments.apps`. */
  readonly collections: Map<string, Collection<R>> = new Map();
  readonly #versions: NewestVersion;
  readonly #history: HistoryLimits;

  constructor(options: { initialVersion: bigint; history: HistoryLimits }) {
    this.#versions = { newest: options.initialVersion };
    this.#history = options.history;
  }

  /** The newest version of all collections. */
  get version(): bigint {
    return this.#versions.newest;
  }

  add(served: R): void {
    const collection = new Collection(served, this.#versions, this.#history);
    this.collections.set(resourceName(served.resource), collection);
  }

  /** Increments the version and returns it, for a writer that takes its versions from this log. */
  nextVersion(): string {
    this.#versions.newest += 1n;
    return String(this.#versions.newest);
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
    const version = BigInt(snapshot.resourceVersion);
    this.#versions.newest = version;
    for (const [name, collection] of this.collections) {
      collection.restore(snapshot.objects.get(name) ?? new Map(), version);
    }
  }
}
