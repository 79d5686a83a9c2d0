/** The queries with functions, and the streams, that the tabs ask by name. */
import { type ChangeStream, count, type LiveQueries, liveFilter, liveGroupBy } from 'rx-informer';
import { kindOf } from '../kinds/index.ts';
import type { Row } from '../kinds/kind.ts';
import type { Used } from '../kinds/usage.ts';
import { presentFactory, retryNow } from './cluster-factory.ts';
import { detailQueries } from './detail-queries.ts';
import { explanationOf, truthOf } from './one-row.ts';
import { noSelectors, ownRowsOf, queryOf, rowsOf, type Selectors } from './row-queries.ts';
import { found, type Search } from './search.ts';
import { columnsOf } from './table-rows.ts';
import { inTrouble, presentRows } from './troubles.ts';
import { type Metered, usedBy } from './usage.ts';

interface RowsOf extends Selectors {
  readonly kind: string;
}

function rows({ kind, ...selectors }: RowsOf, live: LiveQueries) {
  return rowsOf(live, kindOf(kind), selectors);
}

export interface RowOf {
  readonly kind: string;
  readonly uid: string;
}

/** The row of one object with what other kinds add to it. */
export const oneOf = (rows$: ChangeStream<Row>, { uid }: RowOf): ChangeStream<Row> =>
  rows$.pipe(liveFilter((row: Row) => row.uid === uid));

/** Counts the rows of a kind without what other kinds add, so that it is complete even if another kind may not be read. */
function listed(kind: string, live: LiveQueries) {
  return ownRowsOf(live, kindOf(kind)).pipe(liveGroupBy(() => 'all', { count: count<Row>() }));
}

function used(of: Metered) {
  const used$ = usedBy(of);
  if (used$ === undefined) throw new Error('the worker has no session');
  return used$;
}

export const queries = {
  rows,
  /** The rows of kinds that the browser does not store. */
  momentaryRows: rows,
  rowOf: (of: RowOf, live: LiveQueries) =>
    oneOf(rowsOf(live, kindOf(of.kind), noSelectors) as ChangeStream<Row>, of),
  columns: (kind: string) => columnsOf(presentFactory(), kindOf(kind)),
  listed,
  search: (of: Search, live: LiveQueries) => found(presentRows(live, kindOf(of.kind)), of),
  explanation: ({ kind, ...selectors }: RowsOf, live: LiveQueries) =>
    explanationOf(live, queryOf(kindOf(kind), selectors)),
  /** A command, which each tab sends with another time. */
  retry: ({ kind }: { readonly kind: string; readonly atMs: number }, live: LiveQueries) => {
    retryNow(kindOf(kind));
    return listed(kind, live);
  },
  /** One row if the cluster says what is used. */
  isMetered: (of: Metered) => used(of).pipe(liveGroupBy(() => 'all', { count: count<Used>() })),
  /** What one Pod or Node uses. */
  usedOf: ({ of, key }: { readonly of: Metered; readonly key: string }) =>
    used(of).pipe(liveFilter((each: Used) => each.key === key)),
  truth: (_none: undefined, live: LiveQueries) => truthOf(live),
  /** The rows of a kind that are in trouble. */
  troubles: (kind: string, live: LiveQueries) => presentRows(live, kindOf(kind)).pipe(inTrouble),
  ...detailQueries,
};
