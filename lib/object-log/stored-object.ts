/**
 * Objects as the log keeps them: frozen, with their JSON cached, so that each version of an object is serialized once
 * for all lists and watches.
 */
import type { KubernetesObject, ObjectMeta } from '../meta/kubernetes-object.ts';
import type { LoggedResource } from './logged-resource.ts';

/** An object in the log: name, UID and resourceVersion are always there. */
export interface StoredObject extends KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta & { name: string; uid: string; resourceVersion: string };
  readonly [field: string]: unknown;
}

// Without `kind` and `apiVersion`, which items of built-in lists do not carry.
const texts = /* @__PURE__ */ new WeakMap<object, string>();

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
}

/** A frozen copy of `object`, as JSON would carry it, with the given metadata. */
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

/** The whole object as JSON. */
export function objectText(object: StoredObject): string {
  const head = `{"kind":${JSON.stringify(object.kind)},"apiVersion":${JSON.stringify(object.apiVersion)},`;
  return head + itemText(object).slice(1);
}

/** A `*List` body. */
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

/** One line of a watch. */
export function eventText(type: string, object: StoredObject): string {
  return `{"type":"${type}","object":${objectText(object)}}\n`;
}

/** The key of an object within its collection: `namespace/name`, or `name`. */
export function keyOf(object: KubernetesObject): string {
  const { namespace, name = '' } = object.metadata ?? {};
  return namespace ? `${namespace}/${name}` : name;
}
