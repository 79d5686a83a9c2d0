/** The types of the fields of metadata, which a real server decodes into Go structs. A wrong one is a 400, or in a patch a 422. */
import { type Fields, isFields } from '../../meta/json-fields.ts';
import type { KubernetesObject, ObjectMeta } from '../../meta/kubernetes-object.ts';

const TEXTS = ['name', 'generateName', 'namespace', 'uid', 'resourceVersion'];
const OWNER_FIELDS = {
  apiVersion: 'string',
  kind: 'string',
  name: 'string',
  uid: 'string',
  controller: 'bool',
  blockOwnerDeletion: 'bool',
};

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** Whether a value has a type, or is left out. */
function has(value: unknown, type: string): boolean {
  return value === null || value === undefined || jsonType(value) === type;
}

/** The error of Go's decoder for metadata with a wrong type; `undefined` if all types are right. */
export function metadataTypeError(
  { kind, custom }: { readonly kind: string; readonly custom: boolean },
  metadata: unknown,
): string | undefined {
  const error = (value: unknown, field: string, type: string) =>
    `json: cannot unmarshal ${jsonType(value)} into Go struct field ${field} of type ${type}`;
  if (!has(metadata, 'object')) return error(metadata, `${kind}.metadata`, 'v1.ObjectMeta');
  if (!isFields(metadata)) return undefined;
  const path = custom ? '' : 'metadata.';
  const wrong = (name: string, value: unknown, type: string) =>
    error(value, `ObjectMeta.${path}${name}`, type);
  for (const name of TEXTS) {
    if (!has(metadata[name], 'string')) return wrong(name, metadata[name], 'string');
  }
  for (const name of ['labels', 'annotations']) {
    const map = metadata[name];
    if (!has(map, 'object')) return wrong(name, map, 'map[string]string');
    const value = Object.values(map ?? {}).find((each) => !has(each, 'string'));
    if (value !== undefined) return wrong(name, value, 'string');
  }
  const { finalizers, ownerReferences: owners } = metadata;
  if (!has(finalizers, 'array')) return wrong('finalizers', finalizers, '[]string');
  const finalizer = ((finalizers ?? []) as unknown[]).find((each) => !has(each, 'string'));
  if (finalizer !== undefined) return wrong('finalizers', finalizer, 'string');
  if (!has(owners, 'array')) return wrong('ownerReferences', owners, '[]v1.OwnerReference');
  for (const owner of (owners ?? []) as unknown[]) {
    if (!has(owner, 'object')) return wrong('ownerReferences', owner, 'v1.OwnerReference');
    for (const [name, type] of Object.entries(OWNER_FIELDS)) {
      const value = isFields(owner) ? owner[name] : undefined;
      const json = type === 'bool' ? 'bool' : 'string';
      if (!has(value, json))
        return error(value, `OwnerReference.${path}ownerReferences.${name}`, type);
    }
  }
  return undefined;
}

function filled(map: unknown): unknown {
  if (!isFields(map)) return map;
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, value ?? '']));
}

function listed(list: unknown, decode: (each: unknown) => unknown): unknown {
  return Array.isArray(list) ? list.map(decode) : list;
}

function ownerOf(owner: unknown): Fields {
  const given = Object.entries(isFields(owner) ? owner : {});
  return Object.fromEntries(given.filter(([, value]) => value !== null));
}

/** The object as Go decodes it: a `null` in a map or a list of its metadata is an empty value. */
export function decodedObject(object: KubernetesObject): KubernetesObject {
  const { metadata } = object;
  if (!isFields(metadata)) return object;
  const decoded = {
    labels: filled(metadata['labels']),
    annotations: filled(metadata['annotations']),
    finalizers: listed(metadata['finalizers'], (each) => each ?? ''),
    ownerReferences: listed(metadata['ownerReferences'], ownerOf),
  };
  const given = Object.entries(decoded).filter(([, value]) => value !== undefined);
  return { ...object, metadata: { ...metadata, ...Object.fromEntries(given) } as ObjectMeta };
}
