/** Which object a call is about, however its caller has it at hand: a key, a name, or the object itself. */
import { splitMetaNamespaceKey } from '../meta/key.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { checkSegment, type Resource, resourceName } from '../meta/resource.ts';

/**
 * One object: a key (`'shop/web-0'`; `'web-0'` where the client has a namespace or the resource has none), a
 * name with its namespace, or an object with metadata.
 */
export type ObjectTarget =
  | string
  | { readonly namespace?: string | undefined; readonly name: string }
  | KubernetesObject;

/** A target taken apart; no namespace where the resource has none. */
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

/**
 * The namespace that a call goes to: the target's own, else the client's. Throws a `TypeError` where they
 * differ, because a client of one namespace must not reach into another.
 */
export function namespaceFor(
  resource: Resource<KubernetesObject>,
  own: string | undefined,
  scope: string | undefined,
): string | undefined {
  if (own && scope !== undefined && own !== scope) {
    throw new TypeError(
      `${resourceName(resource)}: the target is in namespace ${JSON.stringify(own)}, but this client is of namespace ${JSON.stringify(scope)}`,
    );
  }
  const namespace = own || scope;
  if (namespace !== undefined) checkSegment(resource, 'namespace', namespace);
  return namespace;
}

/** Takes a target apart. Throws a `TypeError` where it names no object of the resource. */
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
  checkSegment(resource, 'name', name);
  const namespace = namespaceFor(resource, own, scope);
  return namespace === undefined ? { name } : { namespace, name };
}
