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
import { isKeyed, projectionOf } from './select.ts';

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

/** Orders the objects of a query, cuts the window out, and makes its rows. */
export function answerOf(
  query: LiveQuery,
  source: Objects,
  options: LiveOptions,
): Observable<AnyChangeSet<unknown>> {
  const { orderBy, offset = 0, limit = Number.POSITIVE_INFINITY, select } = query;
  let answer: Observable<AnyChangeSet<unknown>> = source;
  if (orderBy !== undefined) answer = liveSort(compareBy(orderBy), options)(answer);
  if (query.offset !== undefined || query.limit !== undefined) {
    const ordered = answer as Observable<OrderedChangeSet<unknown>>;
    answer = liveWindow(offset, limit, options)(ordered);
  }
  if (select === undefined) return answer;
  // The columns of a row may be lists and objects, which the server's next state repeats with the same content.
  const equals = isKeyed(select) ? {} : { equals: sameContent };
  return liveMap<unknown, unknown, unknown>(projectionOf(select), { ...options, ...equals })(
    answer,
  ) as Observable<AnyChangeSet<unknown>>;
}
