/** `liveTop`: the first rows of an order. */
import { isObservable, type Observable } from 'rxjs';
import type { AnyChangeSet } from '../../store/change-set.ts';
import type { OrderedChangeStream } from '../../store/change-stream.ts';
import type { LiveOptions, Param } from '../engine/operator.ts';
import { checkFunction } from './check-function.ts';
import { type Compare, liveSort } from './live-sort.ts';
import { liveWindow, wholeNumber } from './live-window.ts';

/**
 * Keeps the first `n` rows in the order of `compare`, like {@link liveSort} and `liveWindow(0, n)`. `set.total` is the number
 * of all rows.
 *
 * A new `n` or comparison from an Observable gives one change set. A row for which the comparison throws is kept out, and
 * stands in the view's `status.refusedRows`. Completes and errors as its source does, and errors if an Observable of a
 * parameter errors. Throws a `TypeError` if `n` is not a whole number of 0 or more (or Infinity).
 *
 * Costs O(log m) comparisons for each changed row of m, and `n` for each set, because all rows are kept in order: the row
 * that follows the last one must be known when a row leaves.
 *
 * ```
 * source        +c---+a----+b---|
 * liveTop(2)    [c]--[ac]--[ab]-|   each set's order
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { liveTop, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const pod = (name: string, restarts: number) => ({ metadata: { name, uid: name }, restarts });
 * const changes$ = of(changeSet({ added: [pod('web', 3), pod('db', 0), pod('job', 7)] }));
 * const top = liveTop<ReturnType<typeof pod>>(2, (one, other) => other.restarts - one.restarts);
 * const view = toView(changes$.pipe(top));
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows.map(({ metadata }) => metadata.name); // => ['job', 'web']
 * ```
 */
export function liveTop<T>(
  n: Param<number>,
  compare: Param<Compare<T>>,
  options: LiveOptions = {},
): (source: Observable<AnyChangeSet<T>>) => OrderedChangeStream<T> {
  checkFunction('liveTop: compare', compare);
  if (!isObservable(n)) wholeNumber(n, 'liveTop: n', false);
  const window = liveWindow(0, n, options);
  return (source) => window(liveSort<T>(compare, options)(source));
}
