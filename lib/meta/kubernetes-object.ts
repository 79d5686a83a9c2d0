/**
 * The shape that every Kubernetes object has on the wire. The types are structural, so that a user's own interface, a
 * generated type of `rx-informer/resources` and a literal all fit without a cast.
 */

/** A timestamp as on the wire: RFC 3339 text, never a `Date`. */
export type Time = string;

/** One entry of `metadata.ownerReferences`: an owner of the object. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** `metadata`, the part of every object that an informer reads. Timestamps are strings. */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: Time;
  deletionTimestamp?: Time;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: unknown[];
}

/** Any Kubernetes object, as JSON. */
export interface KubernetesObject {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
}

/** A `*List` body as JSON. */
export interface KubernetesList<T> {
  apiVersion?: string;
  kind?: string;
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  items: T[];
}

/** The UID, or '' if the object has none (a literal in a test, a table row). */
export function uidOf(object: KubernetesObject | undefined): string {
  return object?.metadata?.uid ?? '';
}

/** The metadata of what may be an object. */
export function metadataOf(value: unknown): KubernetesObject['metadata'] {
  return (Object(value) as KubernetesObject).metadata;
}

/** The resourceVersion, or '' if the object has none. */
export function versionOf(object: KubernetesObject | undefined): string {
  return object?.metadata?.resourceVersion ?? '';
}

/** The part of an object that names its owners. */
interface Owned {
  readonly metadata?: { readonly ownerReferences?: readonly OwnerReference[] | undefined };
}

/**
 * The UID of the controller that owns the object, or '' if no controller does. Aggregated servers and transforms may leave
 * anything in place of the references.
 */
export function controllerUidOf({ metadata }: Owned): string {
  return [metadata?.ownerReferences].flat().find((owner) => owner?.controller === true)?.uid ?? '';
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}

/** Whether name, namespace, UID and version, if present, are text. */
export function hasSoundMetadata(object: object): boolean {
  const { metadata } = object as { readonly metadata?: unknown };
  if (metadata === undefined || metadata === null) return true;
  if (typeof metadata !== 'object') return false;
  const { name, namespace, uid, resourceVersion } = metadata as Record<keyof ObjectMeta, unknown>;
  return (
    isTextOrAbsent(name) &&
    isTextOrAbsent(namespace) &&
    isTextOrAbsent(uid) &&
    isTextOrAbsent(resourceVersion)
  );
}

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
