/**
 * Keys name objects in a store: `namespace/name`, or `name` for cluster-scoped ones.
 * client-go: tools/cache/store.go (MetaNamespaceKeyFunc, SplitMetaNamespaceKey), object-names.go.
 */
import type { KubernetesObject } from './kubernetes-object.ts';

/** Gives an object its key in a store. Throws when it cannot. */
export type KeyFunc<T> = (object: T) => string;

/** client-go's `ObjectName`: namespace is '' for cluster-scoped objects. */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/** The name that an object must have to be stored. */
function nameOf(object: KubernetesObject): string {
  const name = object.metadata?.name;
  if (typeof name !== 'string' || name === '') {
    throw new TypeError(
      `an object of kind ${object.kind ?? 'unknown'} has no metadata.name, so it has no key`,
    );
  }
  return name;
}

/**
 * `namespace/name` of an object, or `name` where it has no namespace. Throws a `TypeError` for an object
 * without a name.
 *
 * @example
 * ```ts
 * import { metaNamespaceKeyFunc } from 'rx-informer';
 *
 * metaNamespaceKeyFunc({ metadata: { namespace: 'shop', name: 'web-0' } }); // => 'shop/web-0'
 * ```
 */
export function metaNamespaceKeyFunc(object: KubernetesObject): string {
  const name = nameOf(object);
  const namespace = object.metadata?.namespace;
  return namespace ? `${namespace}/${name}` : name;
}

/** Joins a name to its key. */
export function joinMetaNamespaceKey(name: ObjectName): string {
  return name.namespace === '' ? name.name : `${name.namespace}/${name.name}`;
}

/**
 * Splits a key. Throws a `TypeError` on a key of more than two parts, as client-go's
 * SplitMetaNamespaceKey returns an error.
 *
 * @example
 * ```ts
 * import { splitMetaNamespaceKey } from 'rx-informer';
 *
 * splitMetaNamespaceKey('shop/web-0').namespace; // => 'shop'
 * splitMetaNamespaceKey('node-1').namespace; // => ''
 * ```
 */
export function splitMetaNamespaceKey(key: string): ObjectName {
  const parts = key.split('/');
  if (parts.length === 1) return { namespace: '', name: key };
  if (parts.length === 2) return { namespace: parts[0] as string, name: parts[1] as string };
  throw new TypeError(
    `unexpected key format: ${JSON.stringify(key)}; a key is 'name' or 'namespace/name'`,
  );
}

/** Whether a key belongs to a scope, which is a namespace; without one, or with '' (client-go's NamespaceAll), all do. */
export function inScope(key: string, scope: string | undefined): boolean {
  return !scope || key.startsWith(`${scope}/`);
}
