/** Ready-made index functions. client-go: tools/cache/index.go, MetaNamespaceIndexFunc. */

import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Stored } from '../meta/stored.ts';

/** The values under which an object is found; an empty answer means "not in this index". */
export type IndexFunc<T> = (object: Stored<T>) => readonly string[];

/** Index functions by name. */
export type Indexers<T, Names extends string = string> = Readonly<Record<Names, IndexFunc<T>>>;

/**
 * Index functions of a store, to read. As methods are to the compiler, so that a store of Pods is one of objects:
 * who only reads it need not know the kind.
 */
export type ReadIndexers<T> = Readonly<
  Record<string, { index(object: Stored<T>): readonly string[] }['index']>
>;

/** The name of the index by namespace, as in client-go. */
export const NAMESPACE_INDEX = 'namespace';

/** By `metadata.namespace`; cluster-scoped objects stand under ''. */
export function byNamespace(object: KubernetesObject): readonly string[] {
  return [object.metadata?.namespace ?? ''];
}

/** By the UID of each owner: the Pods of a ReplicaSet. */
export function byOwnerUid(object: KubernetesObject): readonly string[] {
  return object.metadata?.ownerReferences?.map((owner) => owner.uid) ?? [];
}

function own(record: Record<string, string> | undefined, name: string): readonly string[] {
  return record !== undefined && Object.hasOwn(record, name) ? [record[name] as string] : [];
}

/** By the value of one label. */
export function byLabel(name: string): (object: KubernetesObject) => readonly string[] {
  return (object) => own(object.metadata?.labels, name);
}

/** By the value of one annotation. */
export function byAnnotation(name: string): (object: KubernetesObject) => readonly string[] {
  return (object) => own(object.metadata?.annotations, name);
}

/** By `key=value` of every label: the fast way to an equality selector. */
export function byLabels(object: KubernetesObject): readonly string[] {
  return Object.entries(object.metadata?.labels ?? {}).map(([name, value]) => `${name}=${value}`);
}
