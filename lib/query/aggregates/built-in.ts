/** The aggregates of `liveGroupBy` that most tables need. */

import { checkedFunction, shownValue } from '../../checks/checked-option.ts';
import type { Stored } from '../../meta/kubernetes-object.ts';
import { ownGuard } from '../../store/mutation-guard.ts';
import type { Aggregate } from './aggregate.ts';
import { ExactSum } from './exact-sum.ts';
import { Extreme } from './extreme.ts';
import { type SortableValue, SortedValues } from './sorted-values.ts';

/** Reads a value from a row. `nowMs` is the scheduler's time, in milliseconds since the Unix epoch. */
export type RowValue<T, V> = (object: Stored<T>, nowMs: number) => V;

/** A value, or nothing: `undefined` and `null` are not counted by any aggregate. */
type Optional<V> = V | null | undefined;

/**
 * Counts the rows of a group, or those for which the predicate returns `true`. Costs O(1) for a change.
 *
 * @example
 * ```ts
 * import { count, liveGroupBy, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 * import { of } from 'rxjs';
 *
 * const pod = (name: string, node: string, ready: boolean) => ({ metadata: { name, uid: name }, node, ready });
 * const changes$ = of(changeSet({ added: [pod('a', 'n1', true), pod('b', 'n1', false)] }));
 * const view = toView(
 *   changes$.pipe(liveGroupBy(({ node }) => node, { pods: count(), ready: count(({ ready }) => ready) })),
 * );
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows; // => [{ key: 'n1', pods: 2, ready: 1 }]
 * ```
 */
export function count<T>(predicate?: RowValue<T, boolean>): Aggregate<T, number, boolean, number> {
  return {
    value: (object, nowMs) => predicate === undefined || predicate(object, nowMs) === true,
    initial: () => 0,
    add: (rows, counts) => rows + Number(counts),
    remove: (rows, counts) => rows - Number(counts),
    result: (rows) => rows,
  };
}

/**
 * Adds up a number of each row; 0 if no row has one. Costs O(1) for a change.
 *
 * The sum is exact: it is the number nearest to the true sum of the values, so it depends neither on their order nor on
 * values that have left. A sum beyond 2^53, such as bytes of memory of a large cluster, is still added exactly, but a
 * `number` cannot show all of its digits. `undefined` and `null` are not counted. The sum is NaN as long as a value is
 * NaN, and infinite as long as one is infinite (NaN with both infinities).
 *
 * @example
 * ```ts
 * import { liveGroupBy, sum, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 * import { of } from 'rxjs';
 *
 * const pod = (name: string, cores: number) => ({ metadata: { name, uid: name }, cores });
 * const changes$ = of(changeSet({ added: [pod('a', 0.1), pod('b', 0.25), pod('c', 2)] }));
 * const view = toView(changes$.pipe(liveGroupBy(() => 'all', { cores: sum(({ cores }) => cores) })));
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows; // => [{ key: 'all', cores: 2.35 }]
 * ```
 */
export function sum<T>(
  of: RowValue<T, Optional<number>>,
): Aggregate<T, number, Optional<number>, ExactSum> {
  return ofSum('sum', of, (state) => state.value);
}

/**
 * The mean of a number of each row that has one; `undefined` if none has. It is the exact sum divided by the count, and
 * treats `undefined`, `null`, NaN and infinities as {@link sum} does. Costs O(1) for a change.
 *
 * @example
 * ```ts
 * import { avg, liveGroupBy, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 * import { of } from 'rxjs';
 *
 * const pod = (name: string, restarts?: number) => ({ metadata: { name, uid: name }, restarts });
 * const changes$ = of(changeSet({ added: [pod('a', 1), pod('b', 4), pod('c')] }));
 * const view = toView(changes$.pipe(liveGroupBy(() => 'all', { mean: avg(({ restarts }) => restarts) })));
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows; // => [{ key: 'all', mean: 2.5 }]
 * ```
 */
export function avg<T>(
  of: RowValue<T, Optional<number>>,
): Aggregate<T, number | undefined, Optional<number>, ExactSum> {
  return ofSum('avg', of, (state) => (state.count === 0 ? undefined : state.value / state.count));
}

/**
 * The smallest value of the rows; `undefined` if none has one. Texts are compared by code units, so `min` of
 * `creationTimestamp` is the earliest. `undefined` and `null` are not counted; the result is NaN as long as a value is
 * NaN. Costs O(log n) for a change of a group with n rows, because the next smallest value must be known when the smallest
 * one leaves. If there are both, numbers are before texts.
 *
 * @example
 * ```ts
 * import { liveGroupBy, max, min, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 * import { of } from 'rxjs';
 *
 * const pod = (name: string, created: string) => ({ metadata: { name, uid: name }, created });
 * const changes$ = of(changeSet({ added: [pod('a', '2026-01-02'), pod('b', '2025-12-31')] }));
 * const ages$ = changes$.pipe(
 *   liveGroupBy(() => 'all', { oldest: min(({ created }) => created), newest: max(({ created }) => created) }),
 * );
 * const view = toView(ages$);
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows; // => [{ key: 'all', oldest: '2025-12-31', newest: '2026-01-02' }]
 * ```
 */
export function min<T, V extends number | bigint | string>(
  of: RowValue<T, Optional<V>>,
): Aggregate<T, V | undefined, Optional<V>, Extreme<V>> {
  return ofExtreme('min', of, false);
}

/** The largest value of the rows; `undefined` if none has one. Otherwise like {@link min}. */
export function max<T, V extends number | bigint | string>(
  of: RowValue<T, Optional<V>>,
): Aggregate<T, V | undefined, Optional<V>, Extreme<V>> {
  return ofExtreme('max', of, true);
}

/**
 * The different values of the rows, in order: numbers (NaN last), then texts by code units, then `false` and `true`. The
 * array is the same one until a value is new or the last row with a value leaves. `undefined` and `null` are not counted.
 * For how many there are, read its `length`. Costs O(log n) for a change of a group with n different values, and O(n) if
 * the result changes.
 *
 * @example
 * ```ts
 * import { distinct, liveGroupBy, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 * import { of } from 'rxjs';
 *
 * const pod = (name: string, image: string) => ({ metadata: { name, uid: name }, image });
 * const changes$ = of(changeSet({ added: [pod('a', 'web:2'), pod('b', 'web:1'), pod('c', 'web:2')] }));
 * const view = toView(changes$.pipe(liveGroupBy(() => 'all', { images: distinct(({ image }) => image) })));
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows; // => [{ key: 'all', images: ['web:1', 'web:2'] }]
 * ```
 */
export function distinct<T, V extends SortableValue>(
  of: RowValue<T, Optional<V>>,
): Aggregate<T, readonly V[], Optional<V>, DistinctValues<V>> {
  const guarded = ownGuard();
  return {
    value: checked('distinct', of, isSortable),
    initial: () => new DistinctValues<V>(),
    add: (state, value) => {
      if (isValue(value) && state.sorted.add(unsigned(value))) state.list = undefined;
      return state;
    },
    remove: (state, value) => {
      if (isValue(value) && state.sorted.remove(unsigned(value))) state.list = undefined;
      return state;
    },
    result: (state) => {
      state.list ??= guarded(state.sorted.values());
      return state.list;
    },
  };
}

/** The state of {@link distinct}. */
class DistinctValues<V extends SortableValue> {
  readonly sorted: SortedValues<V> = new SortedValues<V>();
  list: readonly V[] | undefined;
}

function ofSum<T, R>(
  name: string,
  of: RowValue<T, Optional<number>>,
  result: (state: ExactSum) => R,
): Aggregate<T, R, Optional<number>, ExactSum> {
  return {
    value: checked(name, of, (value): value is number => typeof value === 'number'),
    initial: () => new ExactSum(),
    add: (state, value) => {
      if (isValue(value)) state.add(value);
      return state;
    },
    remove: (state, value) => {
      if (isValue(value)) state.remove(value);
      return state;
    },
    result,
  };
}

function ofExtreme<T, V extends number | bigint | string>(
  name: string,
  of: RowValue<T, Optional<V>>,
  isLast: boolean,
): Aggregate<T, V | undefined, Optional<V>, Extreme<V>> {
  return {
    value: checked(
      name,
      of,
      (value): value is V => isSortable(value) && value !== true && value !== false,
    ),
    initial: () => new Extreme<V>(isLast),
    add: (state, value) => {
      if (isValue(value)) state.add(unsigned(value));
      return state;
    },
    remove: (state, value) => {
      if (isValue(value)) state.remove(unsigned(value));
      return state;
    },
    result: (state) => state.value,
  };
}

function isValue<V>(value: Optional<V>): value is V {
  return value !== undefined && value !== null;
}

function isSortable(value: unknown): value is SortableValue {
  const type = typeof value;
  return type === 'number' || type === 'bigint' || type === 'string' || type === 'boolean';
}

/** 0 for -0, because which of them was added first must not matter. */
function unsigned<V extends SortableValue>(value: V): V {
  return value === 0 ? (0 as V) : value;
}

/** Refuses a value of another type, so that text from JSON is not added to a sum. */
function checked<T, V>(
  name: string,
  of: RowValue<T, Optional<V>>,
  isSound: (value: unknown) => boolean,
): RowValue<T, Optional<V>> {
  checkedFunction(of, `${name}: its argument`);
  return (object, nowMs) => {
    const value = of(object, nowMs);
    if (!isValue(value) || isSound(value)) return value;
    const shown = typeof value === 'bigint' ? `${value}n` : shownValue(value);
    throw new TypeError(`${name}: the value of a row is ${shown}, which it cannot take`);
  };
}
