/**
 * Keys, which identify objects in a store: `namespace/name`, or `name` for cluster-scoped objects. client-go:
 * tools/cache/store.go (MetaNamespaceKeyFunc, SplitMetaNamespaceKey), object-names.go.
 */
import type { KubernetesObject } from './kubernetes-object.ts';

/** Returns the key of an object in a store. Throws if the object has no key. */
export type KeyFunc<T> = (object: T) => string;

/** client-go's `ObjectName`. The namespace is '' for cluster-scoped objects. */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/** The name of an object, which is required for its key. */
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
 * Returns `namespace/name`, or `name` if the object has no namespace. Throws a `TypeError` if the object has no name.
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

/** Whether `key` is the key of an object. Creates no key, because every event is checked. */
export function isKeyOf(key: unknown, object: KubernetesObject): boolean {
  const { name, namespace } = object.metadata ?? {};
  if (typeof key !== 'string' || !name) return false;
  if (!namespace) return key === name;
  const at = namespace.length;
  if (key.length !== at + 1 + name.length) return false;
  return key[at] === '/' && key.startsWith(namespace) && key.endsWith(name);
}

/** Returns the key of a namespace and a name. */
export function joinMetaNamespaceKey(name: ObjectName): string {
  return name.namespace === '' ? name.name : `${name.namespace}/${name.name}`;
}

/**
 * Splits a key. Throws a `TypeError` if the key has more than two parts, where client-go's SplitMetaNamespaceKey
 * returns an error.
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

/**
 * Whether a key belongs to a namespace. Every key does if `scope` is `undefined` or '' (client-go's NamespaceAll).
 */
export function inScope(key: string, scope: string | undefined): boolean {
  return !scope || key.startsWith(`${scope}/`);
}
