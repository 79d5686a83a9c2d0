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

/** The resourceVersion, or '' if the object has none. */
export function versionOf(object: KubernetesObject | undefined): string {
  return object?.metadata?.resourceVersion ?? '';
}

/** The part of an object that names its owners. */
interface Owned {
  readonly metadata?: { readonly ownerReferences?: readonly OwnerReference[] | undefined };
}

/** The UID of the controller that owns the object, or '' if no controller does. */
export function controllerUidOf({ metadata }: Owned): string {
  return metadata?.ownerReferences?.find(({ controller }) => controller === true)?.uid ?? '';
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
