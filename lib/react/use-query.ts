/** `useQuery`, the rows of a live query. */
import { checkedQuery, type LiveQuery } from '../query/live-query/live-query.ts';
import { useProviderState } from './provider.ts';
import type { ProviderState } from './provider-state.ts';
import { sourceOfQuery } from './query-sources.ts';
import type { ListResult } from './row-result.ts';
import { type Asked, useRows } from './use-rows.ts';

/** The question that a query asks of a provider. */
export function askedOf<Row>(provided: ProviderState, query: LiveQuery<Row>): Asked<Row> {
  const { group, version, plural } = query.from;
  // The type of the rows. Rows of another one do not stand in for those of the query.
  const type = JSON.stringify([group, version, plural, query.as, query.select]);
  return {
    identity: [provided, type, query.key],
    kept: 2,
    source: () => sourceOfQuery(provided, query),
  };
}

/**
 * Returns the rows of a live query, and renders again when they change, at most once per frame. Equal queries, also in
 * several components, share one pipeline and one watch.
 *
 * The query may be made in each render: queries are compared by content, and their functions by `key`. While the answer
 * to a changed query is not complete, the rows of the former one stand, with `stale: true`, if only `where`, `orderBy`,
 * `limit`, `offset` and the scope have changed. If the resource, `as` or `select` has changed, there are none. `undefined` asks for nothing. Nothing is requested during a render, and on a server the
 * answer is empty. Throws an `Error` without an {@link InformerProvider}, and a `TypeError` if the query is invalid.
 *
 * @example
 * ```ts
 * import { createElement } from 'react';
 * import { renderToString } from 'react-dom/server';
 * import { createClient, liveQuery } from 'rx-informer';
 * import { InformerProvider, useQuery } from 'rx-informer/react';
 * import { pods } from 'rx-informer/resources';
 *
 * const failed = liveQuery({ from: pods, where: { path: 'status.phase', eq: 'Failed' } });
 * function Failed() {
 *   const { rows, synced } = useQuery(failed);
 *   return synced ? `${rows.length} failed` : 'loading';
 * }
 * const client = createClient({ baseUrl: 'http://localhost:8001' });
 * renderToString(createElement(InformerProvider, { client }, createElement(Failed))); // => 'loading'
 * ```
 */
export function useQuery<Row, Ordered extends boolean = boolean>(
  query: LiveQuery<Row, Ordered> | undefined,
): ListResult<Row> {
  const provided = useProviderState('useQuery');
  const valid = query === undefined ? undefined : (checkedQuery(query) as LiveQuery<Row>);
  return useRows(valid === undefined ? undefined : askedOf(provided, valid));
}
