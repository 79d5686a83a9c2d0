/** `useSuspenseQuery` and `useSuspenseList`, which suspend until the answer is complete. */
import * as React from 'react';
import { useSyncExternalStore } from 'react';
import type { PartialObjectMetadata } from '../decode/projection.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import { checkedQuery, type LiveQuery } from '../query/live-query/live-query.ts';
import type { OrderBy } from '../query/live-query/order-by.ts';
import type { RowOf, Select } from '../query/live-query/select.ts';
import { BegunProviders } from './begun-providers.ts';
import type { Provided } from './provided.ts';
import { allBegun, useProvided } from './provider.ts';
import { heldSourceOf } from './query-sources.ts';
import { hasRenderLease, leaseForRender, takeOver } from './render-lease.ts';
import type { ListResult } from './row-result.ts';
import type { RowSource } from './row-source.ts';
import type { ListOptionsOf, MetadataListOptions } from './use-list.ts';
import { type Asked, useRows } from './use-rows.ts';

/** Of React 19; not a named import, because bundlers refuse one that React 18 does not have. */
const use: ((waiting: PromiseLike<void>) => void) | undefined = /* @__PURE__ */ Reflect.get(
  React,
  'use',
);

/** What `use` reads once there is an answer: React 19 expects it in each render of a component that it has suspended. */
const ANSWERED = /* @__PURE__ */ Object.assign(/* @__PURE__ */ Promise.resolve(), {
  status: 'fulfilled',
});

const never = () => () => undefined;
const onPage = () => false;
const onServer = () => true;

/** The source of a query, whose first listener takes over the lease of the render. */
function leased<Row>(provided: Provided, query: LiveQuery<Row>): RowSource<Row> {
  const source = heldSourceOf(provided, query);
  const subscribe = (listener: () => void): (() => void) => {
    const leave = source.subscribe(listener);
    takeOver(provided, query.key);
    return leave;
  };
  return { subscribe, getSnapshot: source.getSnapshot };
}

function useSuspending<Row>(provided: Provided, query: LiveQuery<Row>): ListResult<Row> {
  const isServer = useSyncExternalStore(never, onPage, onServer);
  const identity = [provided, query.key];
  const asked: Asked<Row> = {
    identity,
    // The rows of a former query never stand: React shows them until the next answer, if the change is a transition.
    kept: identity.length,
    source: () => leased(provided, query),
  };
  const result = useRows(isServer ? undefined : asked);
  // A stopped informer is not requested again by a component that shows its rows.
  if (isServer || result.synced || result.stale) {
    use?.(ANSWERED);
    return result;
  }
  if (result.error !== undefined && hasRenderLease(provided, query.key)) throw result.error;
  if (!provided.isShown) {
    const { client } = provided;
    const begun = allBegun.get(client) ?? new BegunProviders();
    allBegun.set(client, begun);
    // The next attempt to render the provider begins with what this one requests.
    begun.add(provided);
  }
  const lease = leaseForRender(provided, query.key, heldSourceOf(provided, query as LiveQuery));
  // Of several components that throw promises, React 19 renders one after the other until an answer comes, without a pause.
  use?.(lease);
  throw lease;
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
  const provided = useProvided('useSuspenseQuery');
  return useSuspending(provided, checkedQuery(query) as LiveQuery<Row>);
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
  const provided = useProvided('useSuspenseList');
  const query = checkedQuery({ ...options, from: resource });
  return useSuspending(provided, query);
}
