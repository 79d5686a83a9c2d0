/** `useSuspenseQuery` and `useSuspenseList`, which suspend until the answer is complete. */
import type { PartialObjectMetadata } from '../../decode/projection.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { Resource } from '../../meta/resource.ts';
import { checkedQuery, type LiveQuery } from '../../query/live-query/live-query.ts';
import type { OrderBy } from '../../query/live-query/order-by.ts';
import type { RowOf, Select } from '../../query/live-query/select.ts';
import type { Provided } from '../provided.ts';
import { allBegun, useProviderState } from '../provider.ts';
import type { ProviderState } from '../provider-state.ts';
import { heldSourceOf } from '../query-sources.ts';
import type { ListResult } from '../row-result.ts';
import type { ListOptionsOf, MetadataListOptions } from '../use-list.ts';
import { BegunProviders } from './begun-providers.ts';
import { type AwaitedRows, useAwaited } from './use-awaited.ts';

/** The answer that a hook awaits: of the informers of the provider, or of its worker. */
function awaitedOf(state: ProviderState, query: LiveQuery): AwaitedRows<unknown> {
  const identity = [state, query.key];
  const { answered } = state;
  if (answered !== undefined) return { identity, source: () => answered(query) };
  const provided = state as Provided;
  return {
    identity,
    source: () => heldSourceOf(provided, query),
    informers: provided.informers,
    onWait: () => begin(provided),
  };
}

/** The next attempt to render the provider begins with what this one requests. */
function begin(provided: Provided): void {
  if (provided.isShown) return;
  const { client } = provided;
  const begun = allBegun.get(client) ?? new BegunProviders();
  allBegun.set(client, begun);
  begun.add(provided);
}

/**
 * Like {@link useQuery}, but suspends until the answer is complete, so that the rows need no check of `synced`. An error
 * that blocks the first answer is thrown, for the nearest error boundary; later errors are in `error`.
 *
 * The request begins right after the render. If React discards the render, the request ends after the linger of the factory
 * (after twice the linger, if the server does not answer). On a server the answer is empty, and nothing is requested.
 *
 * @example
 * ```ts no-run
 * import { createElement, Suspense } from 'react';
 * import { liveQuery } from 'rx-informer';
 * import { useSuspenseQuery } from 'rx-informer/react';
 * import { pods } from 'rx-informer/resources';
 *
 * const failed = liveQuery({ from: pods, where: { path: 'status.phase', eq: 'Failed' } });
 * const Failed = () => `${useSuspenseQuery(failed).rows.length} failed`;
 * createElement(Suspense, { fallback: 'loading' }, createElement(Failed));
 * ```
 */
export function useSuspenseQuery<Row, Ordered extends boolean = boolean>(
  query: LiveQuery<Row, Ordered>,
): ListResult<Row> {
  const state = useProviderState('useSuspenseQuery');
  return useAwaited(awaitedOf(state, checkedQuery(query))) as ListResult<Row>;
}

/**
 * Like {@link useList}, but suspends until the list is complete, as {@link useSuspenseQuery} does.
 *
 * @example
 * ```ts no-run
 * import { createElement, Suspense } from 'react';
 * import { useSuspenseList } from 'rx-informer/react';
 * import { pods } from 'rx-informer/resources';
 *
 * const Pods = () => `${useSuspenseList(pods, { namespace: 'shop' }).rows.length} Pods`;
 * createElement(Suspense, { fallback: 'loading' }, createElement(Pods));
 * ```
 */
export function useSuspenseList<
  const S extends Select<PartialObjectMetadata> | undefined,
  const O extends
    | OrderBy<PartialObjectMetadata>
    | readonly OrderBy<PartialObjectMetadata>[]
    | undefined,
  N extends number | undefined = undefined,
>(
  resource: Resource<KubernetesObject>,
  options: MetadataListOptions<S, O, N>,
): ListResult<RowOf<PartialObjectMetadata, S>>;
export function useSuspenseList<
  T extends KubernetesObject,
  const S extends Select<T> | undefined,
  const O extends OrderBy<T> | readonly OrderBy<T>[] | undefined,
  N extends number | undefined = undefined,
>(resource: Resource<T>, options?: ListOptionsOf<T, S, O, N>): ListResult<RowOf<T, S>>;
export function useSuspenseList(
  resource: Resource<KubernetesObject>,
  options?: object,
): ListResult<unknown> {
  const state = useProviderState('useSuspenseList');
  return useAwaited(awaitedOf(state, checkedQuery({ ...options, from: resource })));
}
