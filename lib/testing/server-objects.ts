/** The programmatic side of the fake server: what a test or a simulation changes without a request. */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Resource, resourceName } from '../meta/resource.ts';
import type { Snapshot } from '../object-log/object-log.ts';
import { keyOf, type StoredObject } from '../object-log/stored-object.ts';
import { conflict, modified, notFound } from './http/status.ts';
import type { ServedCollection, ServerLog } from './served-resource.ts';
import type { ObjectWriter } from './writes/object-writer.ts';

/** Names an object. The namespace of a namespaced resource is `default` where none is given. */
export interface ObjectRef {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** How a programmatic write differs from a request. */
export interface WriteOptions {
  /**
   * The state changes, but no watch is ever told: an event that got lost. Lists show it.
   * client-go: FakeControllerSource.AddDropWatch and its siblings.
   *
   * @defaultValue false
   */
  readonly silent?: boolean | undefined;
}

/** An object as the server holds it: frozen, with name, UID and resourceVersion. */
export type ServerObject<T extends KubernetesObject> = T & StoredObject;

/**
 * The objects of a fake server. Objects given are copied; objects answered are frozen. All methods throw an
 * `ApiError`, as the server would answer it.
 */
export class ServerObjects {
  readonly #log: ServerLog;
  readonly #writer: ObjectWriter;
  readonly #onRestore: () => void;
  readonly #empty: Snapshot;

  /** @internal */
  constructor(log: ServerLog, writer: ObjectWriter, onRestore: () => void) {
    this.#log = log;
    this.#writer = writer;
    this.#onRestore = onRestore;
    this.#empty = log.snapshot();
  }

  #collection(resource: Resource<KubernetesObject>): ServedCollection {
    const name = resourceName(resource);
    const collection = this.#log.collections.get(name);
    if (collection === undefined) {
      const known = [...this.#log.collections.keys()].join(', ');
      throw new TypeError(`the fake API server does not serve ${name}, only ${known}`);
    }
    return collection;
  }

  #find(resource: Resource<KubernetesObject>, ref: ObjectRef): StoredObject | undefined {
    const collection = this.#collection(resource);
    const { name, namespace = 'default' } = ref;
    const metadata = resource.namespaced ? { name, namespace } : { name };
    return collection.objects.get(keyOf({ metadata }));
  }

  #existing(resource: Resource<KubernetesObject>, ref: ObjectRef): StoredObject {
    const current = this.#find(resource, ref);
    if (current === undefined) throw notFound(resource, ref.name);
    return current;
  }

  /** The newest resourceVersion: every change takes the next one. */
  get resourceVersion(): string {
    return String(this.#log.version);
  }

  /** Adds an object, its status included. A UID or creationTimestamp it brings is kept. */
  create<T extends KubernetesObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): ServerObject<T> {
    const collection = this.#collection(resource);
    return this.#writer.create(collection, object, options) as ServerObject<T>;
  }

  /**
   * Replaces an object, its status included; an object that changes nothing keeps its version. One that
   * carries a resourceVersion other than the current one is a `Conflict`.
   */
  update<T extends KubernetesObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): ServerObject<T> {
    const { name = '', namespace, resourceVersion } = object.metadata ?? {};
    const current = this.#existing(resource, { name, ...(namespace ? { namespace } : {}) });
    if (resourceVersion && resourceVersion !== current.metadata.resourceVersion) {
      throw conflict(resource, name, modified);
    }
    const collection = this.#collection(resource);
    return this.#writer.update(collection, current, object, 'all', options) as ServerObject<T>;
  }

  /** Changes a copy of an object in place. */
  modify<T extends KubernetesObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    change: (draft: T) => void,
    options: WriteOptions = {},
  ): ServerObject<T> {
    const draft = structuredClone(this.#existing(resource, ref)) as unknown as T;
    change(draft);
    return this.update(resource, draft, options);
  }

  /** Creates the objects that are new and replaces the others, whatever version they carry. */
  apply<T extends KubernetesObject>(
    resource: Resource<T>,
    objects: readonly T[],
    options: WriteOptions = {},
  ): ServerObject<T>[] {
    return objects.map((object) => {
      const { name = '', namespace, resourceVersion: _version, ...rest } = object.metadata ?? {};
      const ref = { name, ...(namespace ? { namespace } : {}) };
      if (this.#find(resource, ref) === undefined) return this.create(resource, object, options);
      return this.update(resource, { ...object, metadata: { ...rest, ...ref } }, options);
    });
  }

  /** Deletes an object; one with finalizers is marked, and goes when the last finalizer is removed. */
  delete<T extends KubernetesObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options: WriteOptions = {},
  ): void {
    const current = this.#existing(resource, ref);
    this.#writer.delete(this.#collection(resource), current, options);
  }

  get<T extends KubernetesObject>(
    resource: Resource<T>,
    ref: ObjectRef,
  ): ServerObject<T> | undefined {
    return this.#find(resource, ref) as ServerObject<T> | undefined;
  }

  /** In the order of a LIST. */
  list<T extends KubernetesObject>(resource: Resource<T>, namespace?: string): ServerObject<T>[] {
    const objects = this.#collection(resource).sorted();
    if (namespace === undefined) return objects as unknown as ServerObject<T>[];
    const own = objects.filter(({ metadata }) => metadata.namespace === namespace);
    return own as unknown as ServerObject<T>[];
  }

  /** Lets the server make versions without changes, as writes to other resources do. */
  advance(versions = 1): string {
    for (let count = 0; count < versions; count++) this.#log.nextVersion();
    return this.resourceVersion;
  }

  /** Forgets what led to a version (default: the newest): older watches, pages and exact lists get 410. */
  compact(resourceVersion: string = this.resourceVersion): void {
    this.#log.compact(BigInt(resourceVersion));
  }

  /** The whole state, for {@link ServerObjects.restoreSnapshot}. */
  snapshot(): Snapshot {
    return this.#log.snapshot();
  }

  /**
   * Goes back to an earlier state, as an etcd restored from a backup: versions count on from there and come
   * a second time. Open watches break, as the server behind them restarts.
   */
  restoreSnapshot(snapshot: Snapshot): void {
    this.#onRestore();
    this.#log.restore(snapshot);
  }

  /** Goes back to the beginning: no objects, the first version. */
  reset(): void {
    this.restoreSnapshot(this.#empty);
  }
}
