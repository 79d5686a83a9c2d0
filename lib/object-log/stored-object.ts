/**
 * The objects of the log. They are frozen, and their JSON is cached, so that each version of an object is serialized
 * once for all lists and watches.
 */
import type { KubernetesObject, ObjectMeta } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';

/** The properties of a resource that its lists and watches depend on. */
export interface LoggedResource {
  readonly resource: Resource<KubernetesObject>;
  /** A custom resource: the items of its lists carry `kind` and `apiVersion`. */
  readonly custom: boolean;
  /** Fields that `fieldSelector` may name besides `metadata.name` and `metadata.namespace`. */
  readonly selectableFields: readonly string[];
}

/** An object in the log, which always has a name, a UID and a resourceVersion. */
export interface StoredObject extends KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta & { name: string; uid: string; resourceVersion: string };
  readonly [field: string]: unknown;
}

// The JSON of each object without `kind` and `apiVersion`, because the items of built-in lists do not have them.
const texts = /* @__PURE__ */ new WeakMap<object, string>();

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
}

/** Returns a frozen copy of `object`, as after a round trip through JSON, with the given metadata. */
export function store(
  { resource }: LoggedResource,
  object: KubernetesObject,
  metadata: ObjectMeta,
): StoredObject {
  const { kind: _kind, apiVersion: _version, metadata: _metadata, ...fields } = object;
  const text = JSON.stringify({ metadata, ...fields });
  const stored = {
    kind: resource.kind,
    apiVersion: resource.apiVersion,
    ...(JSON.parse(text) as object),
  } as StoredObject;
  freeze(stored);
  texts.set(stored, text);
  return stored;
}

function itemText(object: StoredObject): string {
  let text = texts.get(object);
  if (text === undefined) {
    const { kind: _kind, apiVersion: _version, ...fields } = object;
    text = JSON.stringify(fields);
    texts.set(object, text);
  }
  return text;
}

/** The length of an object's JSON, without `kind` and `apiVersion`. */
export function sizeOf(object: StoredObject): number {
  return itemText(object).length;
}

/** The complete object as JSON. */
export function objectText(object: StoredObject): string {
  const head = `{"kind":${JSON.stringify(object.kind)},"apiVersion":${JSON.stringify(object.apiVersion)},`;
  return head + itemText(object).slice(1);
}

/** The JSON of a list response. */
export function listText(
  { resource, custom }: LoggedResource,
  objects: readonly StoredObject[],
  metadata: Readonly<Record<string, unknown>>,
): string {
  const items = objects.map(custom ? objectText : itemText).join(',');
  const head = JSON.stringify({
    kind: `${resource.kind}List`,
    apiVersion: resource.apiVersion,
    metadata,
  });
  return `${head.slice(0, -1)},"items":[${items}]}\n`;
}

/** The JSON of a watch event, as one line. */
export function eventText(type: string, object: StoredObject): string {
  return `{"type":"${type}","object":${objectText(object)}}\n`;
}

/** The key of an object within its collection: `namespace/name`, or `name`. */
export function keyOf(object: KubernetesObject): string {
  const { namespace, name = '' } = object.metadata ?? {};
  return namespace ? `${namespace}/${name}` : name;
}
