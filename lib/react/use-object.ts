/** `useObject`, one object. */

import { useMemo } from 'react';
import { checkedName } from '../checks/checked-option.ts';
import type { PartialObjectMetadata } from '../decode/projection.ts';
import { nameSelector } from '../meta/field-selector.ts';
import type { KubernetesObject, Stored } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import { checkedQuery, type LiveQuery } from '../query/live-query/live-query.ts';
import { useProviderState } from './provider.ts';
import type { ListResult, StatusResult } from './row-result.ts';
import { askedOf } from './use-query.ts';
import { useRows } from './use-rows.ts';

/** Which object {@link useObject} returns. */
export interface ObjectRef {
  /**
   * Leave it out for a cluster-scoped resource, or to use the namespace of the factory. If several objects have the name
   * then, in different namespaces, there is an `error` and no object.
   */
  readonly namespace?: string | undefined;
  readonly name: string;
  /** Only this object: another one that is created under its name later is not returned. */
  readonly uid?: string | undefined;
  /** `metadata` requests only the metadata. @defaultValue the complete object */
  readonly as?: 'metadata' | undefined;
}

/** What {@link useObject} returns. It never changes. */
export interface ObjectResult<T> extends StatusResult {
  /** `undefined` before the first answer, and if there is no such object (`synced` is true then). */
  readonly object: Stored<T> | undefined;
  /** Whether `object` is that of the former arguments. */
  readonly stale: boolean;
}

/** The query of one object. */
export function objectQuery(resource: Resource<KubernetesObject>, ref: ObjectRef): object {
  const { namespace, name, uid, as } = ref;
  checkedName(name, 'useObject: name', 'the name of an object');
  return {
    from: resource,
    as,
    namespace,
    fieldSelector: nameSelector(name),
    where: uid === undefined ? undefined : { path: 'metadata.uid', eq: uid },
  };
}

/** The result of the query of one object. */
export function objectOf<T>({
  rows,
  total,
  synced,
  stale,
  status,
  error,
}: ListResult<T>): ObjectResult<T> {
  if (total < 2) return Object.freeze({ object: rows[0], synced, stale, status, error });
  // Not the first one: after its deletion another object would take its place.
  const several = `useObject: ${total} objects of several namespaces have this name; give the namespace`;
  return Object.freeze({
    ...{ object: undefined, synced, stale, status },
    error: error ?? new Error(several),
  });
}

/**
 * Returns one object, and renders again when it changes. If an informer of the factory runs that has the object, it is
 * read there. Otherwise the object is watched alone, by `metadata.name`.
 *
 * With `as: 'metadata'` only the metadata is requested, and read of an informer of metadata.
 *
 * With `uid` an object that was deleted and created again counts as gone. While the answer to changed arguments is not
 * complete, the former object stands, with `stale: true`. `undefined` as the resource or the reference asks for nothing.
 * Throws as {@link useQuery} does.
 *
 * @example
 * ```ts
 * import { createElement } from 'react';
 * import { renderToString } from 'react-dom/server';
 * import { createClient } from 'rx-informer';
 * import { InformerProvider, useObject } from 'rx-informer/react';
 * import { pods } from 'rx-informer/resources';
 *
 * function Phase() {
 *   const { object, synced } = useObject(pods, { namespace: 'shop', name: 'web-0' });
 *   if (!synced) return 'loading';
 *   return object?.status?.phase ?? 'gone';
 * }
 * const client = createClient({ baseUrl: 'http://localhost:8001' });
 * renderToString(createElement(InformerProvider, { client }, createElement(Phase))); // => 'loading'
 * ```
 */
export function useObject<T extends KubernetesObject>(
  resource: Resource<T> | undefined,
  ref: (ObjectRef & { readonly as?: undefined }) | undefined,
): ObjectResult<T>;
export function useObject(
  resource: Resource<KubernetesObject> | undefined,
  ref: (ObjectRef & { readonly as: 'metadata' }) | undefined,
): ObjectResult<PartialObjectMetadata>;
export function useObject(
  resource: Resource<KubernetesObject> | undefined,
  ref: ObjectRef | undefined,
): ObjectResult<KubernetesObject>;
export function useObject(
  resource: Resource<KubernetesObject> | undefined,
  ref: ObjectRef | undefined,
): ObjectResult<KubernetesObject> {
  const provided = useProviderState('useObject');
  const query =
    resource === undefined || ref === undefined
      ? undefined
      : checkedQuery(objectQuery(resource, ref));
  const asked =
    query === undefined ? undefined : askedOf(provided, query as LiveQuery<KubernetesObject>);
  const result = useRows(asked);
  return useMemo(() => objectOf(result), [result]);
}
