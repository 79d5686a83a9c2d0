/**
 * Describes API collections and builds their paths. A `Resource<T>` is a plain value that carries the type of its
 * objects, so that `createListWatch(client, pods)` is typed for Pods.
 */
import { checkedBoolean, checkedText, refusal } from '../checks/checked-option.ts';
import type { KubernetesObject } from './kubernetes-object.ts';

/** Group, version and plural: client-go's `schema.GroupVersionResource`. */
export interface GroupVersionResource {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural in lower case, as in the path: `pods`. */
  readonly plural: string;
}

declare const objectType: unique symbol;

/** A collection of the API and the type of its objects. */
export interface Resource<T extends KubernetesObject = KubernetesObject>
  extends GroupVersionResource {
  readonly kind: string;
  readonly namespaced: boolean;
  /** The `apiVersion` of the objects: `v1`, `apps/v1`. */
  readonly apiVersion: string;
  /** Never set; carries the object type for inference. */
  readonly [objectType]?: T;
}

/** A collection of which only group, version and plural are known. */
export interface UntypedResource extends GroupVersionResource {
  readonly namespaced?: boolean | undefined;
  /** Never set; distinguishes this type from a {@link Resource}, which carries an object type. */
  readonly [objectType]?: never;
}

/** The argument of {@link defineResource}. */
export interface ResourceDefinition {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** A part of a path that is no step to another path. */
const PART = /^(?!\.+$)[A-Za-z0-9.-]+$/;

/** Creates a resource without checking its definition, for definitions written in this library. */
export function knownResource<T extends KubernetesObject = KubernetesObject>(
  definition: ResourceDefinition,
): Resource<T> {
  const { group, version } = definition;
  return Object.freeze({ ...definition, apiVersion: group ? `${group}/${version}` : version });
}

/**
 * Defines a resource, built-in or custom.
 *
 * Throws a `TypeError` that names the field if a field is missing or not valid in a path.
 *
 * @example
 * ```ts
 * import { defineResource, type KubernetesObject } from 'rx-informer';
 *
 * interface Widget extends KubernetesObject { spec: { size: number } }
 * const widgets = defineResource<Widget>({
 *   group: 'example.com', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true,
 * });
 * widgets.apiVersion; // => 'example.com/v1'
 * ```
 */
export function defineResource<T extends KubernetesObject = KubernetesObject>(
  definition: ResourceDefinition,
): Resource<T> {
  const { group, version, plural, kind, namespaced } = definition;
  for (const [field, value] of Object.entries({ version, plural, kind })) {
    checkedText(value, `defineResource: ${field}`, PART, "a name such as 'v1', 'pods' or 'Pod'");
  }
  const domain = /^(?!\.+$)[a-z0-9.-]*$/;
  checkedText(group, 'defineResource: group', domain, "'' (core) or a DNS name such as 'apps'");
  checkedBoolean(namespaced, `defineResource: namespaced of ${plural}`);
  return knownResource({ group, version, plural, kind, namespaced });
}

/** The name of a resource in messages and metrics: `pods`, `deployments.apps`. */
export function resourceName(resource: GroupVersionResource): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

/** Whether a text can be inserted into a path without changing its other parts. */
export function isSegment(text: unknown): text is string {
  // Escaping does not help: servers and proxies resolve encoded dots as path steps, and a DELETE of an object would
  // become a DELETE of its collection. Half of a surrogate pair has no escape at all.
  return typeof text === 'string' && !/^\.{0,2}$|[/%\ud800-\udfff]/u.test(text);
}

/** Throws a `TypeError` if a text would change the path that it is inserted into. */
export function checkSegment(
  resource: Resource<KubernetesObject>,
  field: string,
  text: string,
): void {
  if (isSegment(text)) return;
  const must = "text without '/', '%' and half a character, but not '', '.' or '..'";
  throw refusal(`${resourceName(resource)}: the ${field}`, text, must);
}

/** Throws a `TypeError` if a namespace is given for a cluster-scoped resource; '' and `undefined` stand for all. */
export function checkNamespaces(
  resource: Omit<UntypedResource, typeof objectType>,
  namespaces: readonly (string | undefined)[],
  where = '',
): void {
  const given = namespaces.filter(Boolean);
  if (resource.namespaced !== false || given.length === 0) return;
  const shown = given.map((name) => JSON.stringify(name)).join(', ');
  throw new TypeError(
    `${where}${resourceName(resource)} is cluster-scoped, but namespace ${shown} was given`,
  );
}

/** Throws a `TypeError` if a resource, which may be data of somebody else, has a part that would change its path. */
function checkParts({ group, version, plural }: Resource<KubernetesObject>): void {
  for (const [field, value] of Object.entries({ group, version, plural })) {
    if (field === 'group' && value === '') continue;
    if (typeof value === 'string' && PART.test(value)) continue;
    throw refusal(`the ${field} of a resource`, value, "a name such as 'apps', 'v1' or 'pods'");
  }
}

/**
 * Returns the path of a collection, or of one object in it.
 *
 * Throws a `TypeError` if the resource is not one that `defineResource` would define, if a namespace is given for a cluster-scoped resource, if an object of a namespaced resource
 * is named without its namespace, and if a name would change the path ('.', '..', 'a/b').
 *
 * @example
 * ```ts
 * import { defineResource, resourcePath } from 'rx-informer';
 *
 * const pods = defineResource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true });
 * resourcePath(pods, { namespace: 'shop', name: 'web-0' }); // => '/api/v1/namespaces/shop/pods/web-0'
 * ```
 */
export function resourcePath(
  resource: Resource<KubernetesObject>,
  target: {
    readonly namespace?: string | undefined;
    readonly name?: string | undefined;
    readonly subresource?: string | undefined;
  } = {},
): string {
  const { namespace, name, subresource } = target;
  checkParts(resource);
  checkNamespaces(resource, [namespace]);
  if (name !== undefined && resource.namespaced && !namespace) {
    throw new TypeError(
      `${resourceName(resource)} is namespaced; pass the namespace of ${JSON.stringify(name)}`,
    );
  }
  if (namespace !== undefined && namespace !== '') checkSegment(resource, 'namespace', namespace);
  if (name !== undefined) checkSegment(resource, 'name', name);
  const { group, version } = resource;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const object = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  const sub = subresource === undefined ? '' : `/${subresource}`;
  return `${root}${scope}/${resource.plural}${object}${sub}`;
}
