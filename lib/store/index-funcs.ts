/** The types of index functions, and ready-made ones. client-go: tools/cache/index.go, MetaNamespaceIndexFunc. */
import type { KubernetesObject, Stored } from '../meta/kubernetes-object.ts';

/** Returns the index values of an object. An object without values, also with `undefined` or null, is not in the index. */
export type IndexFunc<T> = (object: Stored<T>) => readonly string[];

/** Index functions by name. */
export type Indexers<T, Names extends string = string> = Readonly<Record<Names, IndexFunc<T>>>;

/**
 * The index functions of a store, read-only. They have the type of a method, so that the compiler accepts a store of
 * Pods as a store of objects: code that only reads a store need not know the kind.
 */
export type ReadIndexers<T> = Readonly<
  Record<string, { index(object: Stored<T>): readonly string[] }['index']>
>;

/** The name of the namespace index, as in client-go. */
export const NAMESPACE_INDEX = 'namespace';

/** Indexes by `metadata.namespace`; cluster-scoped objects have the value ''. */
export function byNamespace(object: KubernetesObject): readonly string[] {
  return [object.metadata?.namespace ?? ''];
}

/** Indexes by the UID of each owner, for example to find the Pods of a ReplicaSet. */
export function byOwnerUid(object: KubernetesObject): readonly string[] {
  return object.metadata?.ownerReferences?.map((owner) => owner.uid) ?? [];
}

function own(record: Record<string, string> | undefined, name: string): readonly string[] {
  return record && Object.hasOwn(record, name) ? [record[name] as string] : [];
}

/** Indexes by the value of one label. */
export function byLabel(name: string): (object: KubernetesObject) => readonly string[] {
  return (object) => own(object.metadata?.labels, name);
}

/** Indexes by the value of one annotation. */
export function byAnnotation(name: string): (object: KubernetesObject) => readonly string[] {
  return (object) => own(object.metadata?.annotations, name);
}

/** Indexes by `key=value` of every label, so that equality selectors are fast. */
export function byLabels(object: KubernetesObject): readonly string[] {
  return Object.entries(object.metadata?.labels ?? {}).map(([name, value]) => `${name}=${value}`);
}
