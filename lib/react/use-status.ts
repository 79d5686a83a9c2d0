/** `useStatus`, the status of what the hooks read. */
import { useState, useSyncExternalStore } from 'react';
import { type LiveQuery, liveQuery } from '../query/live-query/live-query.ts';
import type { View } from '../query/view/view.ts';
import { mergedStatusOf } from './merged-status.ts';
import type { Provided } from './provided.ts';
import { useProvided } from './provider.ts';
import { sourceOfQuery } from './query-sources.ts';
import { NO_RESULT, type StatusResult } from './row-result.ts';
import { SKIPPED, sourceOfView } from './row-source.ts';
import {
  type InformerWithStatus,
  type StatusSource,
  statusOfInformer,
  statusOfRows,
} from './status-source.ts';

/** What {@link useStatus} reads: a live query, a view or an informer. */
export type StatusOf = LiveQuery | View<unknown> | InformerWithStatus;

const noResult = () => NO_RESULT;

function sourceOf(provided: Provided, of: StatusOf | undefined): StatusSource {
  if (of === undefined) return statusOfRows(SKIPPED);
  if ('from' in of) return statusOfRows(sourceOfQuery(provided, of));
  if ('getSnapshot' in of) return statusOfRows(sourceOfView(of));
  return statusOfInformer(of);
}

/**
 * Returns the status of a live query, a view or an informer, and renders again only when the status changes, not when
 * rows do. Without an argument it is the merged status of everything that the hooks of the provider read: the phase that
 * needs most attention, and the first error that blocks an answer. `undefined` as the argument asks for nothing.
 *
 * A query or a view is read as {@link useQuery} reads it; an informer is not started. Throws as {@link useQuery} does.
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
  const provided = useProvided('useStatus');
  const [given] = args;
  const of =
    given !== undefined && 'from' in given ? (liveQuery(given as never) as LiveQuery) : given;
  const identity: unknown =
    args.length === 0 ? provided : of !== undefined && 'from' in of ? of.key : of;
  const begin = () => {
    const source = args.length === 0 ? provided.part(mergedStatusOf) : sourceOf(provided, of);
    return { provided, identity, source };
  };
  const [held, setHeld] = useState(begin);
  let now = held;
  if (held.provided !== provided || held.identity !== identity) {
    now = begin();
    setHeld(now);
  }
  return useSyncExternalStore(now.source.subscribe, now.source.getSnapshot, noResult);
}
