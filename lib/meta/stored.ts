/** `Stored<T>`, the type of an object that a server has stored, which always has a name, a UID and a version. */

interface Named {
  readonly metadata: { readonly name: string };
}

interface Identified {
  readonly metadata: { readonly uid: string };
}

interface Versioned {
  readonly metadata: { readonly resourceVersion: string };
}

/** `Part` if the metadata of `T` declares the field as text, otherwise `unknown`, which adds nothing. */
type IfDeclared<T, Field extends string, Part> = T extends { metadata?: infer Metadata }
  ? Field extends keyof NonNullable<Metadata>
    ? string extends NonNullable<Metadata>[Field]
      ? Part
      : unknown
    : unknown
  : unknown;

/**
 * An object as a store or a change set holds it: `metadata.name`, `metadata.uid` and `metadata.resourceVersion` are
 * `string`, because an API server gives them to every object that it stores. A `Stored<T>` is a `T`.
 *
 * A field that the type does not declare as text does not change. A resource without UIDs and versions therefore
 * declares this in its own type: `metadata: { name: string; uid?: never; resourceVersion?: never }`, or metadata
 * without these fields. A type without metadata, such as a row of your own, does not change at all. Objects of your
 * own `ListerWatcher`, or that you put into an indexer yourself, are not checked at run time: choose their type
 * accordingly.
 *
 * @example
 * ```ts
 * import { createIndexer, type KubernetesObject, type Stored } from 'rx-informer';
 * import type { Pod } from 'rx-informer/resources';
 *
 * const uidOf = (pod: Stored<Pod>): string => pod.metadata.uid;
 * const indexer = createIndexer<Pod>();
 * indexer.add({ metadata: { namespace: 'shop', name: 'web', uid: 'u1', resourceVersion: '5' } });
 * indexer.list().map(uidOf); // => ['u1']
 *
 * interface PodMetrics extends KubernetesObject {
 *   metadata: { name: string; namespace: string; uid?: never; resourceVersion?: never };
 *   containers: { name: string; usage: Record<string, string> }[];
 * }
 * const metrics = createIndexer<PodMetrics>();
 * metrics.add({ metadata: { namespace: 'shop', name: 'web' }, containers: [] });
 * metrics.list()[0]?.metadata.name; // => 'web'
 * ```
 */
export type Stored<T> = T &
  IfDeclared<T, 'name', Named> &
  IfDeclared<T, 'uid', Identified> &
  IfDeclared<T, 'resourceVersion', Versioned>;
