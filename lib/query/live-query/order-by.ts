/** `orderBy` of a query: its types, its one form, and the comparison. */
import { isFields } from '../../meta/json-fields.ts';
import type { Stored } from '../../meta/kubernetes-object.ts';
import type { QueryPath } from '../../meta/typed-path.ts';
import { checkedAs, checkedPath } from './condition.ts';
import { shownBy } from './path.ts';
import { type Comparable, compareRead, type Reading, readAsIs, readingOf } from './reading.ts';
import { checkedKey, checkField, checkFields, functionOf, refused } from './refused.ts';
import type { CompareAs } from './where.ts';

/** Orders by the value at a path. If there are several, by the least, and descending by the greatest. */
export interface PathOrder<P> {
  readonly path: P;
  /** Objects without a value come last in both directions. @defaultValue 'asc' */
  readonly direction?: 'asc' | 'desc' | undefined;
  /** How values are read. One that cannot be read so counts as absent. @defaultValue as what they are */
  readonly as?: CompareAs | undefined;
}

/** A comparison as an order. Queries with equal keys are equal, whatever their functions are. */
export interface KeyedOrder<T> {
  readonly key: string;
  /** Receives the objects, not the rows of `select`. To sort down, swap its operands. */
  readonly compare: (one: Stored<T>, other: Stored<T>, nowMs: number) => number;
  readonly direction?: undefined;
}

/** One order of a query on objects of the type `T`. */
export type OrderBy<T> = PathOrder<QueryPath<T>> | KeyedOrder<T>;

/** A valid order in its one form. */
export type QueryOrder =
  | { readonly path: string; readonly direction?: 'desc'; readonly as?: CompareAs }
  | { readonly key: string; readonly compare: (one: never, other: never, nowMs: number) => number };

export type Comparison = (one: unknown, other: unknown, nowMs: number) => number;

function normalOrder(given: unknown, field: string): QueryOrder {
  checkField(isFields(given), field, given, '{ path } or { key, compare }');
  if (!('path' in given) && ('key' in given || 'compare' in given)) {
    if (given['direction'])
      refused(`${field}.direction`, 'is for a path; swap the operands of compare');
    checkFields(field, given, ['key', 'compare', 'direction']);
    const key = checkedKey(field, given['key']);
    return { key, compare: functionOf(`${field}.compare`, key, given['compare']) };
  }
  checkFields(field, given, ['path', 'direction', 'as']);
  const { direction = 'asc' } = given;
  const isDirection = direction === 'asc' || direction === 'desc';
  checkField(isDirection, `${field}.direction`, direction, "'asc' or 'desc'");
  const as = checkedAs(`${field}.as`, given['as']);
  return {
    path: checkedPath(`${field}.path`, given['path']),
    ...(direction === 'desc' ? { direction } : {}),
    ...(as === undefined ? {} : { as }),
  };
}

/** Validates one or several orders. Throws a `TypeError` that names the field. */
export function normalOrders(given: unknown): readonly QueryOrder[] {
  if (!Array.isArray(given)) return [normalOrder(given, 'orderBy')];
  if (given.length === 0) refused('orderBy', 'is empty; leave it out');
  return given.map((each, at) => normalOrder(each, `orderBy[${at}]`));
}

type Value = (object: unknown) => Comparable | undefined;

/** Reads the value that an object is ordered by: of several, the one that comes first. */
function leading(path: string, read: Reading, sign: number): Value {
  const shownIn = shownBy(path);
  // NaN is no value to order by.
  const comparableOf = (value: unknown) => {
    const comparable = read(value);
    return Number.isNaN(comparable) ? undefined : comparable;
  };
  return (object) => {
    const shown = shownIn(object);
    if (shown === undefined) return undefined;
    if (!Array.isArray(shown)) return comparableOf(shown);
    let found: Comparable | undefined;
    for (const value of shown) {
      const comparable = comparableOf(value);
      if (compareRanked(comparable, found, sign) < 0) found = comparable;
    }
    return found;
  };
}

/** The value that a path order reads, and whether it is reversed. */
export interface Ranking {
  readonly value: Value;
  readonly sign: number;
}

type PathOrderText = Extract<QueryOrder, { readonly path: string }>;

export function rankingOf({ path, as, direction }: PathOrderText): Ranking {
  const sign = direction === 'desc' ? -1 : 1;
  const read = as === undefined ? readAsIs : readingOf(as);
  return { value: leading(path, read, sign), sign };
}

/** Compares two values of a ranking. Absent ones come last in both directions. */
export function compareRanked(
  left: Comparable | undefined,
  right: Comparable | undefined,
  sign: number,
): number {
  if (left === undefined || right === undefined) {
    return Number(left === undefined) - Number(right === undefined);
  }
  return compareRead(left, right) * sign;
}

function comparisonOf(order: QueryOrder): Comparison {
  if ('compare' in order) return order.compare as Comparison;
  const ranking = rankingOf(order);
  const value = remembered(ranking.value, order.as);
  return (one, other) => compareRanked(value(one), value(other), ranking.sign);
}

/** Remembers the value of each object if it takes long to read, because a sort compares an object many times. */
function remembered(readValue: Value, as: CompareAs | undefined): Value {
  if (as !== 'time' && as !== 'quantity') return readValue;
  const values = new WeakMap<object, { readonly value: Comparable | undefined }>();
  return (object) => {
    let known = values.get(object as object);
    if (known === undefined) {
      known = { value: readValue(object) };
      values.set(object as object, known);
    }
    return known.value;
  };
}

/** The comparison by several orders, of which the first that differs decides. */
export function compareBy(orders: readonly QueryOrder[]): Comparison {
  const [order, second] = orders;
  // Its result is never NaN.
  if (order !== undefined && 'path' in order && second === undefined) return comparisonOf(order);
  const comparisons = orders.map(comparisonOf);
  return (one, other, nowMs) => {
    for (const compare of comparisons) {
      const result = compare(one, other, nowMs);
      // NaN counts as 0.
      if (result < 0 || result > 0) return result;
    }
    return 0;
  };
}
