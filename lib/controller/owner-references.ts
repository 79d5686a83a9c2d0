/**
 * Owner references. Garbage collection follows the reference in the owned object, and a controller queues the owner by it.
 * client-go: apimachinery metav1.NewControllerRef, GetControllerOf; controller-runtime:
 * pkg/controller/controllerutil.
 */
import { joinMetaNamespaceKey } from '../meta/key.ts';
import { type KubernetesObject, type OwnerReference, uidOf } from '../meta/kubernetes-object.ts';
import { type Resource, resourceName } from '../meta/resource.ts';
import type { ObjectChange } from './predicates.ts';

/** Options of {@link ownerReferenceOf}. */
export interface OwnerReferenceOptions {
  /** Marks the owner as the controller of the object. An object has at most one controller. @defaultValue true */
  readonly controller?: boolean | undefined;
  /** Makes a foreground deletion of the owner wait for the object. @defaultValue true */
  readonly blockOwnerDeletion?: boolean | undefined;
}

function shown(object: KubernetesObject): string {
  const { namespace = '', name = '?' } = object.metadata ?? {};
  return joinMetaNamespaceKey({ namespace, name });
}

/**
 * Creates the entry for `metadata.ownerReferences` of an object that `owner` owns.
 *
 * Throws a `TypeError` if the owner has no name or UID, because only an object that a server has stored can own others.
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
      `${resourceName(resource)} ${shown(owner)} has no ${name ? 'UID' : 'name'}, so it cannot own anything; pass an object that was read from the server`,
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

/** Returns the reference to the controller of the object, if it has one. */
export function controllerOf(object: KubernetesObject | undefined): OwnerReference | undefined {
  return object?.metadata?.ownerReferences?.find(({ controller }) => controller === true);
}

/** Whether `owner` is the controller of `object`. An owner of the same name with another UID is not. */
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
    `${what}: the object is in another namespace, so garbage collection would not find the owner and would delete the object`,
  );
}

/**
 * Returns the object with `owner` as its controller, or the same object if `owner` is its controller already. `resource` is the
 * resource of the owner.
 *
 * The passed object is not changed, so an object from the cache may be passed. Throws a `TypeError` if the object has another
 * controller, if the owner is in another namespace, if the owner is in a namespace and the object is cluster-scoped, or if the owner has
 * no UID. An owner that was deleted and created again is another object.
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
      `${object.kind ?? 'object'} ${shown(object)} is controlled by ${current.kind} ${current.name} (UID ${current.uid}); it cannot have a second controller, ${reference.kind} ${reference.name}`,
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

/** Read access to the cache of the owners. */
export interface Owners {
  getByKey(key: string): KubernetesObject | undefined;
}

function groupOf(apiVersion: string | undefined): string {
  const slash = apiVersion?.indexOf('/') ?? -1;
  return slash === -1 ? '' : (apiVersion as string).slice(0, slash);
}

/**
 * The keys of the controlling owners of an object, before and after the change. An owner that is not in the cache is left out,
 * because its own change queues its key. An owner is in the same cluster, so its key has the same prefix.
 */
export function controllerKeys(
  change: ObjectChange<KubernetesObject>,
  owners: Owners,
  prefix = '',
): string[] {
  const keys = new Set<string>();
  for (const object of [change.previous, change.object, change.last]) {
    const reference = controllerOf(object);
    if (reference === undefined) continue;
    const { name } = reference;
    const namespace = object?.metadata?.namespace ?? '';
    // An owner is cluster-scoped, or in the namespace of the object that it owns.
    for (const own of new Set([joinMetaNamespaceKey({ namespace, name }), name])) {
      const key = `${prefix}${own}`;
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
