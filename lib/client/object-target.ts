/** Resolves the object that a call addresses, given as a key, a name or the object itself. */
import { splitMetaNamespaceKey } from '../meta/key.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Resource, resourceName } from '../meta/resource.ts';

/**
 * Addresses one object: a key (`'shop/web-0'`, or `'web-0'` if the client has a namespace or the resource is
 * cluster-scoped), a name with its namespace, or an object with metadata.
 */
export type ObjectTarget =
  | string
  | { readonly namespace?: string | undefined; readonly name: string }
  | KubernetesObject;

/** The namespace and name of a target. A cluster-scoped resource has no namespace. */
export interface ObjectAddress {
  readonly namespace?: string | undefined;
  readonly name: string;
}

function given(target: ObjectTarget): { namespace?: string | undefined; name?: unknown } {
  if (typeof target === 'string') return splitMetaNamespaceKey(target);
  if (typeof target !== 'object' || target === null) return {};
  return isObject(target) ? (target.metadata ?? {}) : (target as { name?: unknown });
}

/** Whether a target is the object itself. */
export function isObject(target: ObjectTarget): target is KubernetesObject {
  return typeof target === 'object' && target !== null && 'metadata' in target;
}

/** Whether a target is the complete object, and not its metadata or its row of a table. */
export function isComplete(target: ObjectTarget): target is KubernetesObject {
  return isObject(target) && target.kind !== 'PartialObjectMetadata' && target.kind !== 'TableRow';
}

/**
 * Returns the namespace of a call: the target's namespace, otherwise the client's. Throws a `TypeError` if both are set
 * and differ, because a client of one namespace must not reach into another.
 */
export function namespaceFor(
  resource: Resource<KubernetesObject>,
  own: string | undefined,
  scope: string | undefined,
): string | undefined {
  if (own && scope !== undefined && own !== scope) {
    throw new TypeError(
      `${resourceName(resource)}: the target is in namespace ${JSON.stringify(own)}, but this client is limited to namespace ${JSON.stringify(scope)}`,
    );
  }
  return own || scope;
}

/**
 * Returns the namespace and name of a target. Throws a `TypeError` if the target has no name. `resourcePath` checks
 * both texts.
 */
export function addressOf(
  resource: Resource<KubernetesObject>,
  target: ObjectTarget,
  scope: string | undefined,
): ObjectAddress {
  const { namespace: own, name } = given(target);
  if (typeof name !== 'string') {
    throw new TypeError(
      `${resourceName(resource)}: the target has no name; give 'namespace/name', { namespace, name } or an object with metadata.name`,
    );
  }
  const namespace = namespaceFor(resource, own, scope);
  return namespace === undefined ? { name } : { namespace, name };
}
