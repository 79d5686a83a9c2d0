/** `useList`, the objects of a resource. */
import type { PartialObjectMetadata } from '../decode/projection.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import {
  checkedQuery,
  type LiveQuerySpec,
  type MetadataQuerySpec,
} from '../query/live-query/live-query.ts';
import type { OrderBy } from '../query/live-query/order-by.ts';
import type { RowOf, Select } from '../query/live-query/select.ts';
import { useProviderState } from './provider.ts';
import type { ListResult } from './row-result.ts';
import { askedOf } from './use-query.ts';
import { useRows } from './use-rows.ts';

/** The options of {@link useList}: the fields of a live query, without `from`. */
export type ListOptionsOf<
  T extends KubernetesObject,
  S = unknown,
  O = unknown,
  N = number | undefined,
> = Omit<LiveQuerySpec<T, S, O, N>, 'from'>;

/** The options of {@link useList} for the metadata of the objects alone. */
export type MetadataListOptions<S = unknown, O = unknown, N = number | undefined> = Omit<
  MetadataQuerySpec<S, O, N>,
  'from'
>;

/**
 * Returns the objects of a resource, or the rows that `select` makes of them, and renders again when they change, at
 * most once per frame. The options are the fields of a live query: `namespace`, `labelSelector`, `fieldSelector`,
 * `where`, `select`, `orderBy`, `limit`, `offset` and `as`. With `as: 'metadata'` only the metadata is requested.
 *
 * The options may be written in place: they are compared by content, and functions by the `key` beside them. While the
 * answer to changed options is not complete, the former rows stand, with `stale: true`, unless the answer is refused (`error`). `undefined` as the resource asks
 * for nothing. A row is the same object until it changes, so a row component in `memo()` renders only for its own
 * changes. Throws as {@link useQuery} does.
 *
 * @example
 * ```ts
 * import { createElement } from 'react';
 * import { renderToString } from 'react-dom/server';
 * import { createClient } from 'rx-informer';
 * import { InformerProvider, useList } from 'rx-informer/react';
 * import { pods } from 'rx-informer/resources';
 *
 * function Names() {
 *   const { rows } = useList(pods, { namespace: 'shop', orderBy: { path: 'metadata.name' }, limit: 50 });
 *   return rows.map(({ metadata }) => metadata.name).join(', ');
 * }
 * const client = createClient({ baseUrl: 'http://localhost:8001' });
 * renderToString(createElement(InformerProvider, { client }, createElement(Names))); // => ''
 * ```
 */
export function useList<
  const S extends Select<PartialObjectMetadata> | undefined,
  const O extends
    | OrderBy<PartialObjectMetadata>
    | readonly OrderBy<PartialObjectMetadata>[]
    | undefined,
  N extends number | undefined = undefined,
>(
  resource: Resource<KubernetesObject> | undefined,
  options: MetadataListOptions<S, O, N>,
): ListResult<RowOf<PartialObjectMetadata, S>>;
export function useList<
  T extends KubernetesObject,
  // Without defaults, as those of `liveQuery`.
  const S extends Select<T> | undefined,
  const O extends OrderBy<T> | readonly OrderBy<T>[] | undefined,
  N extends number | undefined = undefined,
>(resource: Resource<T> | undefined, options?: ListOptionsOf<T, S, O, N>): ListResult<RowOf<T, S>>;
export function useList(
  resource: Resource<KubernetesObject> | undefined,
  options?: object,
): ListResult<unknown> {
  const provided = useProviderState('useList');
  const query = resource === undefined ? undefined : checkedQuery({ ...options, from: resource });
  return useRows(query === undefined ? undefined : askedOf(provided, query));
}
