/** `useStatus` and `useQueryStatus`, the status of what the hooks read. */
import { useState, useSyncExternalStore } from 'react';
import { mergeStatus } from '../informer/status/merge-status.ts';
import type { InformerStatus } from '../informer/status/status.ts';
import { checkedQuery, type LiveQuery } from '../query/live-query/live-query.ts';
import { shallowEqual } from '../query/operators/shallow-equal.ts';
import type { View } from '../query/view/view.ts';
import { useProviderState } from './provider.ts';
import type { ProviderState } from './provider-state.ts';
import { sourceOfQuery } from './query-sources.ts';
import { blockingError, NO_RESULT, type StatusResult } from './row-result.ts';
import { SKIPPED, sourceOfView } from './row-source.ts';
import {
  type InformerWithStatus,
  type StatusSource,
  statusOfInformer,
  statusOfRows,
} from './status-source.ts';

/** What {@link useStatus} reads: a view or an informer. */
export type StatusOf = View<unknown> | InformerWithStatus;

const noResult = () => NO_RESULT;

function sourceOf(of: StatusOf | undefined): StatusSource {
  if (of === undefined) return statusOfRows(SKIPPED);
  if ('getSnapshot' in of) return statusOfRows(sourceOfView(of));
  if ('status$' in of) return statusOfInformer(of);
  throw new TypeError(
    'useStatus: the argument is neither a view nor an informer; for a live query, call useQueryStatus(query)',
  );
}

/** The status of a source, which is made again if the identity changes. */
export function useSource(
  provided: ProviderState,
  identity: unknown,
  sourceNow: () => StatusSource,
): StatusResult {
  const begin = () => ({ provided, identity, source: sourceNow() });
  const [held, setHeld] = useState(begin);
  let now = held;
  if (held.provided !== provided || held.identity !== identity) {
    now = begin();
    setHeld(now);
  }
  return useSyncExternalStore(now.source.subscribe, now.source.getSnapshot, noResult);
}

/**
 * Returns the status of a view or an informer, and renders again only when the status changes, not when rows do. Without
 * an argument it is the merged status of everything that the hooks of the provider read: the phase that
 * needs most attention, and the first error that blocks an answer. `undefined` as the argument asks for nothing.
 *
 * A view is read as {@link useView} reads it; an informer is not started. Throws as {@link useQuery} does. For a live
 * query there is {@link useQueryStatus}.
 *
 * @example
 * ```ts
 * import { createElement } from 'react';
 * import { renderToString } from 'react-dom/server';
 * import { createClient } from 'rx-informer';
 * import { InformerProvider, useStatus } from 'rx-informer/react';
 *
 * function Connection() {
 *   const { status, error } = useStatus();
 *   if (error !== undefined) return error.message;
 *   return status.live === true ? 'live' : 'not live';
 * }
 * const client = createClient({ baseUrl: 'http://localhost:8001' });
 * renderToString(createElement(InformerProvider, { client }, createElement(Connection))); // => 'not live'
 * ```
 */
export function useStatus(...args: readonly [of?: StatusOf | undefined]): StatusResult {
  const provided = useProviderState('useStatus');
  const [of] = args;
  const isMerged = args.length === 0;
  return useSource(provided, isMerged ? provided : of, () =>
    isMerged ? provided.part(mergedStatusOf) : sourceOf(of),
  );
}

/**
 * Returns the status of a live query, which is read as {@link useQuery} reads it, and renders again only when the status
 * changes. `undefined` asks for nothing. Throws as {@link useQuery} does.
 *
 * @example
 * ```ts
 * import { createElement } from 'react';
 * import { renderToString } from 'react-dom/server';
 * import { createClient, liveQuery } from 'rx-informer';
 * import { InformerProvider, useQueryStatus } from 'rx-informer/react';
 * import { pods } from 'rx-informer/resources';
 *
 * const query = liveQuery({ from: pods, namespace: 'shop' });
 * const Freshness = () => (useQueryStatus(query).status.live === true ? 'live' : 'not live');
 * const client = createClient({ baseUrl: 'http://localhost:8001' });
 * renderToString(createElement(InformerProvider, { client }, createElement(Freshness))); // => 'not live'
 * ```
 */
export function useQueryStatus(query: LiveQuery | undefined): StatusResult {
  const provided = useProviderState('useQueryStatus');
  const valid = query === undefined ? undefined : checkedQuery(query);
  return useSource(provided, valid?.key, () =>
    statusOfRows(valid === undefined ? SKIPPED : sourceOfQuery(provided, valid)),
  );
}

/** The former value if the new one is equal to it; otherwise the new one, frozen. */
function kept<V extends object>(former: V, now: V): V {
  return shallowEqual(former, now) ? former : Object.freeze(now);
}

/** Returns the former result if nothing of it has changed, so that a change of rows renders nothing. */
function merged({ used }: ProviderState, former: StatusResult): StatusResult {
  const read = [...new Map(used)].map(([source, name]) => [name(), source.getSnapshot()] as const);
  if (read.length === 0) return NO_RESULT;
  const results = read.map(([, result]) => result);
  // Once for all that read the same informers.
  const statuses = [...new Map(read).values()].map(({ status }) => status as InformerStatus);
  const known = statuses.filter(({ phase }) => phase !== undefined && phase !== 'idle');
  const all = results.flatMap(({ status }) => status.refusedRows);
  const refusedRows = kept(former.status.refusedRows, all);
  const status = kept(former.status, { ...(known.length > 0 && mergeStatus(known)), refusedRows });
  const synced = results.every((result) => result.synced);
  const error =
    results.find((result) => result.error !== undefined)?.error ?? blockingError(status);
  return kept(former, { synced, status, error });
}

/** The merged status of a provider, as a part of it. */
export function mergedStatusOf(provided: ProviderState): StatusSource {
  let status: StatusResult = NO_RESULT;
  let isOutdated = true;
  provided.subscribe(() => {
    isOutdated = true;
  });
  const getSnapshot = () => {
    if (isOutdated) status = merged(provided, status);
    isOutdated = false;
    return status;
  };
  return { subscribe: provided.subscribe, getSnapshot };
}
