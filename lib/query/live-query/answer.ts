/** The pipeline of a query: the operators between what an informer has and the answer. */
import type { Observable } from 'rxjs';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { sameContent } from '../../meta/same-content.ts';
import type { AnyChangeSet, ChangeSet, OrderedChangeSet } from '../../store/change-set.ts';
import type { LiveOptions } from '../engine/machine.ts';
import { filterBy } from '../operators/live-filter.ts';
import { liveMap } from '../operators/live-map.ts';
import { liveSort } from '../operators/live-sort.ts';
import { liveWindow } from '../operators/live-window.ts';
import { FirstRows } from './first-rows.ts';
import type { LiveQuery } from './live-query.ts';
import { compareBy, type Ranking, rankingOf } from './order-by.ts';
import type { Predicate } from './predicate.ts';
import { isKeyed, projectionOf, type QuerySelection } from './select.ts';

type Objects = Observable<ChangeSet<KubernetesObject>>;

/** The objects for which all predicates hold. */
export function filteredBy(
  predicates: readonly Predicate[],
  source: Objects,
  options: LiveOptions,
): Objects {
  if (predicates.length === 0) return source;
  return filterBy<KubernetesObject>(
    (object, nowMs) => predicates.every((predicate) => predicate(object, nowMs)),
    options,
  )(source);
}

type Rows = Observable<AnyChangeSet<unknown>>;

function windowOf({ offset, limit }: LiveQuery, rows: Rows, options: LiveOptions): Rows {
  if (offset === undefined && limit === undefined) return rows;
  const ordered = rows as Observable<OrderedChangeSet<unknown>>;
  return liveWindow(offset ?? 0, limit ?? Number.POSITIVE_INFINITY, options)(ordered);
}

function rowsOf(select: QuerySelection, objects: Rows, options: LiveOptions): Rows {
  // The columns of a row may be lists and objects, which the server's next state repeats with the same content.
  const equals = isKeyed(select) ? {} : { equals: sameContent };
  const toRows = liveMap<unknown, unknown, unknown>(projectionOf(select), {
    ...options,
    ...equals,
  });
  return toRows(objects) as Rows;
}

/** The values that a query with a window is ordered by; `undefined` if it has none, or one that needs all rows in order. */
function rankingsOf({ orderBy, select, limit }: LiveQuery): Ranking[] | undefined {
  if (limit === undefined) return undefined;
  // A function may keep objects out.
  if (select !== undefined && isKeyed(select)) return undefined;
  const rankings = orderBy?.flatMap((order) => ('path' in order ? rankingOf(order) : []));
  return rankings?.length === orderBy?.length ? rankings : undefined;
}

/**
 * Orders the objects of a query for which the predicates hold, cuts the window out, and makes its rows. The predicates must be of data
 * alone. Each subscription to the source must begin with all objects. `share` returns the rows of queries that differ in their windows.
 */
export function answerOf(
  query: LiveQuery,
  source: Objects,
  predicates: readonly Predicate[],
  options: LiveOptions,
  share: (make: () => FirstRows) => FirstRows = (make) => make(),
): Rows {
  const { orderBy, select, offset = 0, limit = 0 } = query;
  const rankings = rankingsOf(query);
  if (rankings !== undefined) {
    const first = share(() => new FirstRows({ predicates, rankings, source, options }));
    const rows: Rows = first.window(offset, limit, options);
    return select === undefined ? rows : rowsOf(select, rows, options);
  }
  const objects = filteredBy(predicates, source, options);
  const ordered: Rows =
    orderBy === undefined ? objects : liveSort(compareBy(orderBy), options)(objects);
  if (select === undefined) return windowOf(query, ordered, options);
  // A function may keep objects out, which do not count as rows of the window. Columns are made for the window only.
  return isKeyed(select)
    ? windowOf(query, rowsOf(select, ordered, options), options)
    : rowsOf(select, windowOf(query, ordered, options), options);
}
