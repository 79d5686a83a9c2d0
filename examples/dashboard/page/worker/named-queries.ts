/** The queries with functions, and the streams, that the tabs ask by name. */
import {
  type ChangeStream,
  count,
  type LiveQueries,
  liveFilter,
  liveGroupBy,
  liveQuery,
} from 'rx-informer';
import { replicaSets } from 'rx-informer/resources';
import { kindOf } from '../kinds/index.ts';
import type { Row } from '../kinds/kind.ts';
import type { Used } from '../kinds/usage.ts';
import { presentFactory, retryNow } from './cluster-factory.ts';
import { detailQueries } from './detail-queries.ts';
import { explanationOf, truthOf } from './one-row.ts';
import { noSelectors, ownRowsOf, queryOf, rowsOf, type Selectors } from './row-queries.ts';
import { search } from './search.ts';
import { columnsOf } from './table-rows.ts';
import { failureOf } from './uncreated.ts';
import { type Metered, usedBy } from './usage.ts';

interface RowsOf extends Selectors {
  readonly kind: string;
}

function rows({ kind, ...selectors }: RowsOf, live: LiveQueries) {
  return rowsOf(live, kindOf(kind), selectors);
}

/** The row of one object with what other kinds add to it. */
function rowOf({ kind, uid }: { readonly kind: string; readonly uid: string }, live: LiveQueries) {
  const joined$ = rowsOf(live, kindOf(kind), noSelectors) as ChangeStream<Row>;
  return joined$.pipe(liveFilter((row: Row) => row.uid === uid));
}

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
  rowOf,
  columns: (kind: string) => columnsOf(presentFactory(), kindOf(kind)),
  listed,
  search,
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
  uncreated: () =>
    liveQuery({
      from: replicaSets,
      where: { key: 'pods could not be created', test: (set) => failureOf(set) !== undefined },
      select: {
        key: 'failure of replicasets',
        project: (set) => ({
          namespace: set.metadata.namespace ?? '',
          name: set.metadata.name,
          message: failureOf(set)?.message ?? '',
        }),
      },
    }),
  ...detailQueries,
};
