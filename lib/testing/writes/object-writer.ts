/**
 * Writes objects, for requests and for writes without requests: assigns versions, UIDs and generations, honours
 * finalizers, and skips writes that change nothing.
 */
import type { KubernetesObject, ObjectMeta } from '../../meta/kubernetes-object.ts';
import { invalid, unsupportedOption } from '../../object-log/failures.ts';
import { keyOf, type StoredObject, store } from '../../object-log/stored-object.ts';
import { deepEqual } from '../deep-equal.ts';
import type { Exchange } from '../http/request.ts';
import { alreadyExists } from '../http/status.ts';
import type { ServedCollection, ServedResource, ServerLog } from '../served-resource.ts';

/** The part of an object that an update may change: everything, everything except the status, or only the status. */
export type UpdatePart = 'all' | 'object' | 'status';

/** The effect of a write. */
export interface WriteEffect {
  /** Changes the state without an event to any watch. */
  readonly silent?: boolean | undefined;
  /** Changes nothing, and returns the result that the write would have. */
  readonly dryRun?: boolean | undefined;
}

const SUFFIX = 'bcdfghjklmnpqrstvwxz2456789';

/** The fields of an object without its type and metadata. */
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

  /** Generates a name. The prefix is cut so that the result has at most 63 characters, the length limit of a label. */
  generate(prefix: string): string {
    let name = prefix.slice(0, 58);
    for (let index = 0; index < 5; index++) {
      name += SUFFIX[Math.floor(this.#random() * SUFFIX.length)];
    }
    return name;
  }

  /** The name of a new object, generated if requested. Throws `Invalid` if there is none. */
  newName({ resource }: ServedResource, { name, generateName }: ObjectMeta): string {
    if (name || generateName) return name || this.generate(generateName ?? '');
    const message = 'Required value: name or generateName is required';
    const cause = { reason: 'FieldValueRequired', message, field: 'metadata.name' };
    throw invalid({ ...kindOf(resource), name: '' }, cause);
  }

  /** Creates an object. A given UID is kept. A dry run assigns no version. Throws `AlreadyExists` and `Invalid`. */
  create(
    collection: ServedCollection,
    object: KubernetesObject,
    effect: WriteEffect = {},
  ): StoredObject {
    const { served, objects } = collection;
    const {
      name: _name,
      generateName,
      namespace,
      uid,
      generation = served.generation ? 1 : undefined,
      creationTimestamp = this.#timestamp(),
      resourceVersion: _version,
      ...rest
    } = object.metadata ?? {};
    const name = this.newName(served, object.metadata ?? {});
    const place = served.resource.namespaced ? { namespace: namespace || 'default' } : {};
    if (objects.has(keyOf({ metadata: { name, ...place } }))) {
      throw alreadyExists(served.resource, name);
    }
    const metadata: ObjectMeta = {
      name,
      ...(generateName === undefined ? {} : { generateName }),
      ...place,
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

  /** Replaces `current` with `object`. Returns `current` if that changes nothing. */
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
    const given = part === 'status' ? statusMetadata(served, object, current) : object.metadata;
    const metadata = keepIdentity(given ?? {}, current.metadata);
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

  /** Deletes an object, or marks it if it has finalizers. Returns `undefined` if the object is gone. */
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

/** How an `Invalid` response names the type of an object: by kind and, outside the core group, by group. */
export function kindOf({ kind, group }: ServedResource['resource']): {
  kind: string;
  group?: string;
} {
  return { kind, ...(group === '' ? {} : { group }) };
}

function setOwn(fields: Record<string, unknown>, name: string, value: unknown): void {
  if (value === undefined) delete fields[name];
  else fields[name] = value;
}

/** The built-in resources whose `/status` takes no metadata. kubernetes: ResetObjectMetaForStatus */
const RESET = [
  ...['podcertificaterequests', 'podgroups', 'servicecidrs', 'storageversionmigrations'],
  ...['resourceclaims', 'devicetaintrules', 'storageversions', 'volumeattachments'],
  ...['validatingadmissionpolicies', 'customresourcedefinitions'],
];

/** The metadata that a write of the status keeps: for most built-in resources all that the client sent. */
function statusMetadata(
  { resource, custom }: ServedResource,
  { metadata }: KubernetesObject,
  current: StoredObject,
): ObjectMeta | undefined {
  if (custom || RESET.includes(resource.plural)) return current.metadata;
  const kept = { deployments: 'labels', pods: 'ownerReferences' }[resource.plural];
  return kept === undefined
    ? metadata
    : { ...metadata, [kept]: current.metadata[kept as 'labels' | 'ownerReferences'] };
}

/** The metadata of an update. Fields that a client cannot change are taken from the current object. */
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

/** Removes empty lists and maps, which a server does not store in metadata. */
function withoutEmpty(metadata: ObjectMeta): ObjectMeta {
  const kept = { ...metadata };
  for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const) {
    const value = kept[field];
    if (!value || Object.keys(value).length === 0) delete kept[field];
  }
  return kept;
}

/**
 * Whether the generation must grow. Built-in resources count changes of `spec`, custom ones of all except metadata and
 * status.
 */
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

/** Reads `dryRun` from the query, or from the options in a body. Errors name `options`. */
export function effectOf(
  { query }: Exchange,
  options: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions',
  inBody?: readonly string[],
): WriteEffect {
  const given = inBody ?? query.getAll('dryRun');
  for (const value of given) if (value !== 'All') throw unknownDryRun(options, given);
  return { dryRun: given.length > 0 };
}

function unknownDryRun(options: string, given: readonly string[]): Error {
  const message = `Unsupported value: ${JSON.stringify(given)}: supported values: "All"`;
  return invalid(
    { kind: options, name: '', group: 'meta.k8s.io' },
    { reason: 'FieldValueNotSupported', message, field: 'dryRun' },
  );
}

const POLICIES = ['Foreground', 'Background', 'Orphan', 'nil'];

/** Refuses an unknown propagation policy. */
export function checkPropagationPolicy(policy: string | undefined): void {
  if (policy === undefined || POLICIES.includes(policy)) return;
  throw unsupportedOption('DeleteOptions', 'propagationPolicy', policy, POLICIES);
}
