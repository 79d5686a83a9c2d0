/**
 * Who belongs to whom. The reference in the child is what garbage collection follows and what wakes the owner's
 * controller. client-go: apimachinery metav1.NewControllerRef, GetControllerOf; controller-runtime:
 * pkg/controller/controllerutil.
 */
import { joinMetaNamespaceKey } from '../meta/key.ts';
import { type KubernetesObject, type OwnerReference, uidOf } from '../meta/kubernetes-object.ts';
import { type Resource, resourceName } from '../meta/resource.ts';
import type { ObjectChange } from './object-change.ts';

/** What {@link ownerReferenceOf} takes. */
export interface OwnerReferenceOptions {
  /** Marks the owner as the one that manages the object; an object has at most one. @defaultValue true */
  readonly controller?: boolean | undefined;
  /** A foreground deletion of the owner waits for the object. @defaultValue true */
  readonly blockOwnerDeletion?: boolean | undefined;
}

function shown(object: KubernetesObject): string {
  const { namespace = '', name = '?' } = object.metadata ?? {};
  return joinMetaNamespaceKey({ namespace, name });
}

/**
 * The reference that stands in `metadata.ownerReferences` of what `owner` owns.
 *
 * Throws a `TypeError` when the owner has no name or UID: only an object that a server has stored can own.
 *
 * @example
 * ```ts
 * import { ownerReferenceOf } from 'rx-informer';
 * import { deployments } from 'rx-informer/resources';
 *
 * const web = { metadata: { namespace: 'shop', name: 'web', uid: '7d1c' } };
 * ownerReferenceOf(web, deployments).kind; // => 'Deployment'
 * ```
 */
export function ownerReferenceOf(
  owner: KubernetesObject,
  resource: Resource<KubernetesObject>,
  options: OwnerReferenceOptions = {},
): OwnerReference {
  const { name, uid } = owner.metadata ?? {};
  if (!name || !uid) {
    throw new TypeError(
      `${resourceName(resource)} ${shown(owner)} has no ${name ? 'UID' : 'name'}, so it cannot own anything; pass the object as the server has it`,
    );
  }
  const { controller = true, blockOwnerDeletion = true } = options;
  const { apiVersion, kind } = resource;
  return {
    apiVersion,
    kind,
    name,
    uid,
    ...(controller ? { controller } : {}),
    ...(blockOwnerDeletion ? { blockOwnerDeletion } : {}),
  };
}

/** The reference to the one owner that manages the object, if it has one. */
export function controllerOf(object: KubernetesObject | undefined): OwnerReference | undefined {
  return object?.metadata?.ownerReferences?.find(({ controller }) => controller === true);
}

/** Whether `owner`, this very object and not another of its name, manages `object`. */
export function isControlledBy(object: KubernetesObject, owner: KubernetesObject): boolean {
  const uid = controllerOf(object)?.uid;
  return uid !== undefined && uid === uidOf(owner);
}

function checkScope(
  owner: KubernetesObject,
  object: KubernetesObject,
  resource: Resource<KubernetesObject>,
): void {
  if (!resource.namespaced) return;
  const { namespace } = owner.metadata ?? {};
  const own = object.metadata?.namespace;
  if (namespace && own === namespace) return;
  const what = `${resourceName(resource)} ${shown(owner)} cannot own ${object.kind ?? 'object'} ${shown(object)}`;
  if (!own) {
    throw new TypeError(
      `${what}: it has no namespace, and a cluster-scoped object cannot have a namespaced owner; set metadata.namespace if it has one`,
    );
  }
  throw new TypeError(
    `${what}: it is in another namespace, and garbage collection would take its owner for missing and delete it`,
  );
}

/**
 * The object with `owner` as its controller; the same object when that is so already. `resource` is the owner's.
 *
 * What is passed in stays as it is, so an object from the cache may be passed. Throws a `TypeError` when another
 * object controls it, when the owner is in another namespace, when the owner is in a namespace and the object is
 * cluster-scoped, or when the owner has no UID. An owner deleted and created anew is another object.
 *
 * controller-runtime: controllerutil.SetControllerReference
 *
 * @example
 * ```ts
 * import { isControlledBy, setControllerReference } from 'rx-informer';
 * import { deployments } from 'rx-informer/resources';
 *
 * const web = { metadata: { namespace: 'shop', name: 'web', uid: '7d1c' } };
 * const child = setControllerReference(web, { metadata: { namespace: 'shop', name: 'web-1' } }, deployments);
 * isControlledBy(child, web); // => true
 * ```
 */
export function setControllerReference<T extends KubernetesObject>(
  owner: KubernetesObject,
  object: T,
  resource: Resource<KubernetesObject>,
): T {
  const reference = ownerReferenceOf(owner, resource);
  checkScope(owner, object, resource);
  const current = controllerOf(object);
  if (current !== undefined && current.uid !== reference.uid) {
    throw new TypeError(
      `${object.kind ?? 'object'} ${shown(object)} is controlled by ${current.kind} ${current.name} (UID ${current.uid}); it can have no second controller, ${reference.kind} ${reference.name}`,
    );
  }
  const others = object.metadata?.ownerReferences ?? [];
  const same = others.find(({ uid }) => uid === reference.uid);
  if (same?.controller && same.blockOwnerDeletion && same.apiVersion === reference.apiVersion) {
    return object;
  }
  const ownerReferences =
    same === undefined
      ? [...others, reference]
      : others.map((each) => (each === same ? reference : each));
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

/** Reads the owners' cache. */
export interface Owners {
  getByKey(key: string): KubernetesObject | undefined;
}

function groupOf(apiVersion: string | undefined): string {
  const slash = apiVersion?.indexOf('/') ?? -1;
  return slash === -1 ? '' : (apiVersion as string).slice(0, slash);
}

/**
 * The keys of the owners that control an object, before and now. An owner that is not in the cache is left out:
 * its own coming will wake it, and its going already has.
 */
export function controllerKeys(change: ObjectChange<KubernetesObject>, owners: Owners): string[] {
  const keys = new Set<string>();
  for (const object of [change.previous, change.object, change.last]) {
    const reference = controllerOf(object);
    if (reference === undefined) continue;
    const { name } = reference;
    const namespace = object?.metadata?.namespace ?? '';
    // An owner is in the namespace of what it owns, or in none.
    for (const key of new Set([joinMetaNamespaceKey({ namespace, name }), name])) {
      const owner = owners.getByKey(key);
      if (owner === undefined) continue;
      const sameKind =
        owner.kind === reference.kind &&
        groupOf(owner.apiVersion) === groupOf(reference.apiVersion);
      if (uidOf(owner) === reference.uid || sameKind) keys.add(key);
    }
  }
  return [...keys];
}
