/**
 * Which collection of the API an informer looks at. A `Resource<T>` is a plain value that carries its
 * object type, so that `createListWatch(client, pods)` knows that it brings Pods.
 */
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
  /** `v1`, `apps/v1`: what objects of this resource carry as `apiVersion`. */
  readonly apiVersion: string;
  /** Never set: holds the object type for inference. */
  readonly [objectType]?: T;
}

/** A collection of which only the name is known, not what its objects are. */
export interface UntypedResource extends GroupVersionResource {
  readonly namespaced?: boolean | undefined;
  /** Never there: what names a type of objects is a {@link Resource}. */
  readonly [objectType]?: never;
}

/** What {@link defineResource} takes. */
export interface ResourceDefinition {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** A resource of which the definition needs no check, because it is written in this library. */
export function knownResource<T extends KubernetesObject = KubernetesObject>(
  definition: ResourceDefinition,
): Resource<T> {
  const { group, version } = definition;
  return Object.freeze({ ...definition, apiVersion: group ? `${group}/${version}` : version });
}

/**
 * Names a resource, built-in or custom.
 *
 * Throws a `TypeError` that names the field when one is missing or could not stand in a path.
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
    if (typeof value !== 'string' || !/^[A-Za-z0-9.-]+$/.test(value) || /^\.+$/.test(value)) {
      throw new TypeError(
        `defineResource: ${field} is ${JSON.stringify(value)}; it must be a name such as 'v1', 'pods' or 'Pod'`,
      );
    }
  }
  if (typeof group !== 'string' || !/^[a-z0-9.-]*$/.test(group) || /^\.+$/.test(group)) {
    throw new TypeError(
      `defineResource: group is ${JSON.stringify(group)}; it must be '' (core) or a DNS name such as 'apps'`,
    );
  }
  if (typeof namespaced !== 'boolean') {
    throw new TypeError(`defineResource: namespaced of ${plural} must be true or false`);
  }
  return knownResource({ group, version, plural, kind, namespaced });
}

/** `pods`, `deployments.apps`: how messages and metrics name a resource. */
export function resourceName(resource: GroupVersionResource): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

/** Throws a `TypeError` on a text that would lead elsewhere when it stands in a path. */
export function checkSegment(
  resource: Resource<KubernetesObject>,
  field: string,
  text: string,
): void {
  // Escaping does not help: whoever reads the URL takes dots for steps, and a DELETE would go to the folder.
  if (typeof text === 'string' && !/^\.{0,2}$|[/%]/.test(text)) return;
  throw new TypeError(
    `${resourceName(resource)}: the ${field} is ${JSON.stringify(text)}; it must not be empty, '.' or '..', nor contain '/' or '%'`,
  );
}

/**
 * The path of a collection, or of one object in it.
 *
 * Throws a `TypeError` when a namespace is given for a cluster-scoped resource, or when an object of a
 * namespaced resource is named without one, and on a name that would lead elsewhere ('.', '..', 'a/b').
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
  if (namespace !== undefined && namespace !== '' && !resource.namespaced) {
    throw new TypeError(
      `${resourceName(resource)} is cluster-scoped, but namespace ${JSON.stringify(namespace)} was given`,
    );
  }
  if (name !== undefined && resource.namespaced && !namespace) {
    throw new TypeError(
      `${resourceName(resource)} is namespaced: name a namespace to reach ${JSON.stringify(name)}`,
    );
  }
  if (namespace !== undefined && namespace !== '') checkSegment(resource, 'namespace', namespace);
  if (name !== undefined) checkSegment(resource, 'name', name);
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.apiVersion}`;
  const scope = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const object = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  const sub = subresource === undefined ? '' : `/${subresource}`;
  return `${root}${scope}/${resource.plural}${object}${sub}`;
}
