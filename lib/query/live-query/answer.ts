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
import type { LiveQuery } from './live-query.ts';
import { compareBy } from './order-by.ts';
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

/** Orders the objects of a query, cuts the window out, and makes its rows. */
export function answerOf(query: LiveQuery, source: Objects, options: LiveOptions): Rows {
  const { orderBy, select } = query;
  const ordered: Rows =
    orderBy === undefined ? source : liveSort(compareBy(orderBy), options)(source);
  if (select === undefined) return windowOf(query, ordered, options);
  // A function may keep objects out, which do not count as rows of the window. Columns are made for the window only.
  return isKeyed(select)
    ? windowOf(query, rowsOf(select, ordered, options), options)
    : rowsOf(select, windowOf(query, ordered, options), options);
}
