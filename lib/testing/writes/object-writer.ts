/**
 * What a write does to an object, whoever writes: versions, UIDs, generations, finalizers, and no change at
 * all where nothing changed. Requests and the programmatic side both end here.
 */
import type { KubernetesObject, ObjectMeta } from '../../meta/kubernetes-object.ts';
import { keyOf, type StoredObject, store } from '../../object-log/stored-object.ts';
import { deepEqual } from '../deep-equal.ts';
import { alreadyExists } from '../http/status.ts';
import type { ServedCollection, ServedResource, ServerLog } from '../served-resource.ts';

/** Which part of an object an update may change: all of it, all but the status, or only the status. */
export type UpdatePart = 'all' | 'object' | 'status';

/** How a write is to show. */
export interface WriteEffect {
  /** The state changes, but no watch is told. */
  readonly silent?: boolean | undefined;
  /** Nothing changes: the answer is what would be. */
  readonly dryRun?: boolean | undefined;
}

const SUFFIX = 'bcdfghjklmnpqrstvwxz2456789';

/** An object without what only a writer may set, and without what does not count as a change. */
function fieldsOf(object: KubernetesObject): Record<string, unknown> {
  const { kind: _kind, apiVersion: _version, metadata: _metadata, ...fields } = object;
  return fields;
}

export class ObjectWriter {
  readonly #log: ServerLog;
  readonly #now: () => number;
  readonly #random: () => number;

  constructor(log: ServerLog, now: () => number, random: () => number) {
    this.#log = log;
    this.#now = now;
    this.#random = random;
  }

  #timestamp(): string {
    return new Date(this.#now()).toISOString().replace(/\.[0-9]+Z$/, 'Z');
  }

  #uid(): string {
    const hex = (digits: number) =>
      Math.floor(this.#random() * 16 ** digits)
        .toString(16)
        .padStart(digits, '0');
    return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(8)}${hex(4)}`;
  }

  /** A name for `generateName`: so much of it that the whole is a label, too. */
  generate(prefix: string): string {
    let name = prefix.slice(0, 58);
    for (let index = 0; index < 5; index++) {
      name += SUFFIX[Math.floor(this.#random() * SUFFIX.length)];
    }
    return name;
  }

  /** Adds an object; a UID it brings is kept. Throws `AlreadyExists`. Tried only, it has no version. */
  create(
    collection: ServedCollection,
    object: KubernetesObject,
    effect: WriteEffect = {},
  ): StoredObject {
    const { served, objects } = collection;
    const {
      name: given,
      generateName,
      namespace,
      uid,
      generation = served.generation ? 1 : undefined,
      creationTimestamp = this.#timestamp(),
      resourceVersion: _version,
      ...rest
    } = object.metadata ?? {};
    const name = given || this.generate(generateName ?? '');
    if (objects.has(keyOf({ metadata: { name, ...(namespace ? { namespace } : {}) } }))) {
      throw alreadyExists(served.resource, name);
    }
    const metadata: ObjectMeta = {
      name,
      ...(generateName === undefined ? {} : { generateName }),
      ...(served.resource.namespaced ? { namespace: namespace || 'default' } : {}),
      uid: uid ?? this.#uid(),
      ...(effect.dryRun ? {} : { resourceVersion: this.#log.nextVersion() }),
      ...(generation === undefined ? {} : { generation }),
      creationTimestamp,
      ...withoutEmpty(rest),
    };
    const stored = store(served, object, metadata);
    this.#append(collection, 'ADDED', stored, effect);
    return stored;
  }

  /** Puts `object` in the place of `current`; answers `current` when that changes nothing. */
  update(
    collection: ServedCollection,
    current: StoredObject,
    object: KubernetesObject,
    part: UpdatePart,
    effect: WriteEffect = {},
  ): StoredObject {
    const { served } = collection;
    const fields = part === 'status' ? fieldsOf(current) : fieldsOf(object);
    if (part === 'status') setOwn(fields, 'status', fieldsOf(object).status);
    if (part === 'object' && served.status) setOwn(fields, 'status', current.status);
    const given = part === 'status' ? current.metadata : (object.metadata ?? {});
    const metadata = keepIdentity(given, current.metadata);
    const same = deepEqual(metadata, current.metadata) && deepEqual(fields, fieldsOf(current));
    if (same) return current;
    if (current.metadata.deletionTimestamp && !metadata.finalizers?.length) {
      this.#remove(collection, current, effect);
      return store(served, fields as KubernetesObject, metadata);
    }
    const changed = served.generation && specChanged(served, fields, fieldsOf(current));
    const stored = store(served, fields as KubernetesObject, {
      ...metadata,
      resourceVersion: this.#versionAfter(current, effect),
      ...(changed ? { generation: (current.metadata.generation ?? 0) + 1 } : {}),
    });
    this.#append(collection, 'MODIFIED', stored, effect);
    return stored;
  }

  /** Deletes, or marks as to be deleted where finalizers hold the object. `undefined`: it is gone. */
  delete(
    collection: ServedCollection,
    current: StoredObject,
    effect: WriteEffect = {},
  ): StoredObject | undefined {
    const { finalizers, deletionTimestamp, generation } = current.metadata;
    if (!finalizers?.length) {
      this.#remove(collection, current, effect);
      return undefined;
    }
    if (deletionTimestamp !== undefined) return current;
    const { labels, annotations, ownerReferences, managedFields, ...identity } = current.metadata;
    const stored = store(collection.served, current, {
      ...identity,
      resourceVersion: this.#versionAfter(current, effect),
      ...(generation ? { generation: generation + 1 } : {}),
      deletionTimestamp: this.#timestamp(),
      deletionGracePeriodSeconds: 0,
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...(ownerReferences && { ownerReferences }),
      ...(managedFields && { managedFields }),
    });
    this.#append(collection, 'MODIFIED', stored, effect);
    return stored;
  }

  #remove(collection: ServedCollection, current: StoredObject, effect: WriteEffect): void {
    const last = store(collection.served, current, {
      ...current.metadata,
      resourceVersion: this.#versionAfter(current, effect),
    });
    this.#append(collection, 'DELETED', last, effect);
  }

  #versionAfter({ metadata }: StoredObject, { dryRun }: WriteEffect): string {
    return dryRun ? metadata.resourceVersion : this.#log.nextVersion();
  }

  #append(
    collection: ServedCollection,
    type: 'ADDED' | 'MODIFIED' | 'DELETED',
    object: StoredObject,
    { silent = false, dryRun = false }: WriteEffect,
  ): void {
    if (!dryRun) collection.append(type, object, silent);
  }
}

function setOwn(fields: Record<string, unknown>, name: string, value: unknown): void {
  if (value === undefined) delete fields[name];
  else fields[name] = value;
}

/** Metadata of an update: what a client cannot change is the current object's. */
function keepIdentity(given: ObjectMeta, current: StoredObject['metadata']): ObjectMeta {
  const { generateName, namespace, generation, creationTimestamp, deletionTimestamp } = current;
  const { deletionGracePeriodSeconds: grace, name, uid, resourceVersion } = current;
  const rest: ObjectMeta = { ...given };
  for (const field of [
    ...['name', 'generateName', 'namespace', 'uid', 'resourceVersion', 'generation'],
    ...['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink'],
  ]) {
    delete (rest as Record<string, unknown>)[field];
  }
  return {
    name,
    ...(generateName === undefined ? {} : { generateName }),
    ...(namespace === undefined ? {} : { namespace }),
    uid,
    resourceVersion,
    ...(generation === undefined ? {} : { generation }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(grace === undefined ? {} : { deletionGracePeriodSeconds: grace }),
    ...withoutEmpty(rest),
  };
}

/** A server does not keep what is empty in metadata. */
function withoutEmpty(metadata: ObjectMeta): ObjectMeta {
  const kept = { ...metadata };
  for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const) {
    const value = kept[field];
    if (!value || Object.keys(value).length === 0) delete kept[field];
  }
  return kept;
}

/** Built-in resources count changes of `spec`, custom ones of all but metadata and status. */
function specChanged(
  { custom }: ServedResource,
  next: Record<string, unknown>,
  current: Record<string, unknown>,
): boolean {
  if (!custom) return !deepEqual(next.spec, current.spec);
  const { status: _next, ...nextRest } = next;
  const { status: _current, ...currentRest } = current;
  return !deepEqual(nextRest, currentRest);
}
