/** `liveGroupBy`: a row for each group of rows; and `liveDistinct`, the groups without aggregates. */

import { isObservable, type Observable } from 'rxjs';
import { check } from '../../checks/checked-option.ts';
import { isFields } from '../../meta/json-fields.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import type { ChangeStream } from '../../store/change-stream.ts';
import type { Aggregates, GroupRow } from '../aggregates/aggregate.ts';
import { liveOperator } from '../engine/live-operator.ts';
import type { LiveOptions, Machine, Param } from '../engine/machine.ts';
import { checkFunction } from '../engine/misuse.ts';
import { GroupMachine } from './group-machine.ts';
import type { GroupKey } from './group-row.ts';
import { liveMap } from './live-map.ts';

/**
 * Groups the rows by a key and keeps a row for each group: its key and the results of the aggregates. The id and the key
 * of that row are the group's key.
 *
 * The key is a text; `undefined` leaves the row out, and with an array the row counts once in each of its groups. A
 * group without rows is deleted. The row of a group is replaced only if a result changes; results are compared by
 * `Object.is`, and arrays, sets and plain objects by their elements.
 *
 * A key or an aggregate that throws for a row keeps that row out, and the row stands in the view's `status.refusedRows`. If
 * the `result` of an aggregate throws, the group stays out and is listed there. New aggregates or a new key from an
 * Observable give one change set. Completes and errors as its source does; errors if an Observable of a parameter errors,
 * and with a `TypeError` if its value is invalid. Constant invalid values throw here.
 *
 * Costs one call of the key and of each aggregate for a changed row, whatever the size of the group; `min`, `max` and
 * `distinct` cost O(log n) with n different values in the group.
 *
 * ```
 * source   +a(x)-----+b(x)-----a(y)----------|   a moves from group x to group y
 * result   +x:1------x:2-------(x:1,+y:1)----|
 * ```
 *
 * @example
 * ```ts
 * import { count, liveGroupBy, max, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 * import { of } from 'rxjs';
 *
 * const pod = (name: string, node: string, restarts: number) => ({ metadata: { name, uid: name }, node, restarts });
 * const changes$ = of(changeSet({ added: [pod('a', 'n1', 3), pod('b', 'n2', 0), pod('c', 'n1', 7)] }));
 * const perNode = liveGroupBy(({ node }: ReturnType<typeof pod>) => node, {
 *   pods: count(),
 *   restarts: max(({ restarts }) => restarts),
 * });
 * const view = toView(changes$.pipe(perNode)); // with an informer: informer.changes$.pipe(perNode)
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows;
 * // => [{ key: 'n1', pods: 2, restarts: 7 }, { key: 'n2', pods: 1, restarts: 0 }]
 * ```
 */
export function liveGroupBy<T, const A extends Aggregates<T>>(
  key: Param<GroupKey<T>>,
  aggregates: Param<A>,
  options: LiveOptions = {},
): (source: Observable<ChangeSet<T>>) => ChangeStream<GroupRow<A>> {
  checkFunction('liveGroupBy: key', key);
  if (!isObservable(aggregates)) checkAggregates(aggregates);
  return (source) =>
    liveOperator<GroupRow<A>, ChangeSet<GroupRow<A>>>({
      ...options,
      name: 'liveGroupBy',
      sources: [source],
      params: [key, aggregates],
      create: ([keyNow, aggregatesNow]: readonly unknown[], context, former) => {
        checkFunction('liveGroupBy: key', keyNow);
        checkAggregates(aggregatesNow);
        const before = former as Machine<Readonly<Record<string, unknown>>> | undefined;
        const machine = new GroupMachine<T>(
          keyNow as GroupKey<T>,
          aggregatesNow as A,
          context,
          before,
        );
        return machine as unknown as Machine<GroupRow<A>>;
      },
    }) as ChangeStream<GroupRow<A>>;
}

function checkAggregates(aggregates: unknown): void {
  const must = 'an object such as { pods: count() }';
  check(isFields(aggregates), 'liveGroupBy: aggregates', aggregates, must);
  for (const [name, aggregate] of Object.entries(aggregates)) {
    if (name === 'key') {
      throw new TypeError("liveGroupBy: an aggregate is named 'key', but that is the group's key");
    }
    for (const method of ['initial', 'add', 'remove', 'result']) {
      if (typeof (aggregate as Record<string, unknown> | null)?.[method] === 'function') continue;
      throw new TypeError(`liveGroupBy: the aggregate '${name}' has no function '${method}'`);
    }
  }
}

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
