/** Reads and writes the objects of the fake server without requests, for tests and simulations. */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Resource, resourceName } from '../meta/resource.ts';
import type { Snapshot } from '../object-log/object-log.ts';
import { keyOf, type StoredObject } from '../object-log/stored-object.ts';
import { conflict, modified, notFound } from './http/status.ts';
import { checkResource, type ServedCollection, type ServerLog } from './served-resource.ts';
import type { ObjectWriter } from './writes/object-writer.ts';

/** The name of an object. The namespace of a namespaced resource defaults to `default`. */
export interface ObjectRef {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** How a write without a request differs from a request. */
export interface WriteOptions {
  /**
   * Changes the state without an event to any watch, as if the event were lost. Lists show the change.
   * client-go: FakeControllerSource.AddDropWatch and its siblings.
   *
   * @defaultValue false
   */
  readonly silent?: boolean | undefined;
}

/** One change of an object of the fake server. A deletion has no `after`, a creation has no `before`. */
export interface ServerChange<T extends KubernetesObject> {
  readonly before?: ServerObject<T> | undefined;
  readonly after?: ServerObject<T> | undefined;
  /** The version of the change. */
  readonly resourceVersion: string;
}

/** An object as the server stores it: frozen, with name, UID and resourceVersion. */
export type ServerObject<T extends KubernetesObject> = T & StoredObject;

/**
 * The objects of a fake server. Arguments are copied, and returned objects are frozen. All methods throw the `ApiError`
 * that the server would return, and a `TypeError` if the server does not serve the resource.
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
    checkResource('objects', resource);
    const name = resourceName(resource);
    const collection = this.#log.collections.get(name);
    if (collection === undefined) {
      const known = [...this.#log.collections.keys()].join(', ');
      throw new TypeError(`the fake API server does not serve ${name}; it serves ${known}`);
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

  /** The newest resourceVersion. Every change takes the next one. */
  get resourceVersion(): string {
    return String(this.#log.version);
  }

  /** Creates an object, including its status. Keeps a given UID and creationTimestamp. */
  create<T extends KubernetesObject>(
    resource: Resource<T>,
    object: T,
    options: WriteOptions = {},
  ): ServerObject<T> {
    const collection = this.#collection(resource);
    return this.#writer.create(collection, object, options) as ServerObject<T>;
  }

  /**
   * Replaces an object, including its status. An update without changes keeps the version. Throws a `Conflict` if the
   * object has a resourceVersion that is not the current one.
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

  /** Updates an object with the changes that the callback makes to a copy. */
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

  /** Creates the objects that do not exist and replaces the others, regardless of their version. */
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

  /** Deletes an object. An object with finalizers is only marked, and is deleted when the last finalizer is removed. */
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

  /** Returns the objects in the order of a LIST. */
  list<T extends KubernetesObject>(resource: Resource<T>, namespace?: string): ServerObject<T>[] {
    const objects = this.#collection(resource).sorted();
    if (namespace === undefined) return objects as ServerObject<T>[];
    const own = objects.filter(({ metadata }) => metadata.namespace === namespace);
    return own as ServerObject<T>[];
  }

  /**
   * Calls a listener synchronously after each change of a resource, whether a request or a method of this class made
   * it. The listener must not write. Returns a function that removes the listener.
   */
  onChange<T extends KubernetesObject>(
    resource: Resource<T>,
    listener: (change: ServerChange<T>) => void,
  ): () => void {
    const collection = this.#collection(resource);
    let position = collection.end;
    const read = () => {
      for (; position < collection.end; position++) {
        const entry = collection.entry(position);
        if (entry === undefined) continue;
        const { type, object, previous } = entry;
        listener({
          resourceVersion: object.metadata.resourceVersion,
          before: previous as ServerObject<T> | undefined,
          after: type === 'DELETED' ? undefined : (object as ServerObject<T>),
        });
      }
    };
    collection.listeners.add(read);
    return () => void collection.listeners.delete(read);
  }

  /** Uses up versions without changes, like writes to other resources. Returns the newest version. */
  advance(versions = 1): string {
    for (let count = 0; count < versions; count++) this.#log.nextVersion();
    return this.resourceVersion;
  }

  /**
   * Discards the history up to a version (default: the newest). Older watches, pages and exact lists then get a 410.
   */
  compact(resourceVersion: string = this.resourceVersion): void {
    this.#log.compact(BigInt(resourceVersion));
  }

  /** The complete state, for {@link ServerObjects.restoreSnapshot}. */
  snapshot(): Snapshot {
    return this.#log.snapshot();
  }

  /**
   * Restores an earlier state, like an etcd that is restored from a backup. Versions continue from that state, so they
   * are issued a second time. Open watches are cut, because the server behind them restarts.
   */
  restoreSnapshot(snapshot: Snapshot): void {
    this.#onRestore();
    this.#log.restore(snapshot);
  }

  /** Restores the initial state: no objects, and the first version. */
  reset(): void {
    this.restoreSnapshot(this.#empty);
  }
}
