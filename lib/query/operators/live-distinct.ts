/** `liveDistinct`: the different values of the rows. */
import type { Observable } from 'rxjs';
import type { ChangeSet } from '../../store/change-set.ts';
import type { ChangeStream } from '../../store/change-stream.ts';
import type { LiveOptions, Param } from '../engine/operator.ts';
import { checkFunction } from './check-function.ts';
import type { GroupKey } from './group-key.ts';
import { liveGroupBy } from './live-group-by.ts';
import { liveMap } from './live-map.ts';

/**
 * Keeps a row for each different text that `value` returns, such as the namespaces of the pods for a menu. The row is the
 * text itself, and so are its id and its key. It is deleted when the last object with this text leaves.
 *
 * `undefined` leaves an object out, and an array gives several texts. If `value` throws for an object, the object gives
 * none and stands in the view's `status.refusedRows` of `liveGroupBy`. A new function from an Observable gives one change set.
 * Completes and errors as its source does; errors if the Observable of the function errors. Throws a `TypeError` if `value`
 * is neither a function nor an Observable.
 *
 * Costs one call of `value` for a changed row.
 *
 * ```
 * source   +a(x)----+b(x)----a(y)----b(y)---|   the values of a and b
 * result   +x----------------+y------(-x)---|
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { liveDistinct, liveSort, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const pod = (name: string, namespace: string) => ({ metadata: { name, namespace, uid: name } });
 * const changes$ = of(changeSet({ added: [pod('a', 'shop'), pod('b', 'bank'), pod('c', 'shop')] }));
 * const namespaces = liveDistinct(({ metadata }: ReturnType<typeof pod>) => metadata.namespace);
 * const inOrder = liveSort<string>((one, other) => (one < other ? -1 : 1));
 * const view = toView(changes$.pipe(namespaces, inOrder));
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows; // => ['bank', 'shop']
 * ```
 */
export function liveDistinct<T>(
  value: Param<GroupKey<T>>,
  options: LiveOptions = {},
): (source: Observable<ChangeSet<T>>) => ChangeStream<string> {
  checkFunction('liveDistinct: value', value);
  const groups = liveGroupBy<T, Record<never, never>>(value, {}, options);
  const texts = liveMap<{ readonly key: string }, string>(({ key }) => key, options);
  return (source) => texts(groups(source)) as ChangeStream<string>;
}
