/** Makes predicates of conditions. */

import type { Stored } from '../../meta/kubernetes-object.ts';
import type { Scalar } from '../../meta/typed-path.ts';
import { synchronous } from '../../rx/is-thenable.ts';
import type { IndexFunc } from '../../store/index-funcs.ts';
import { indexValues } from '../../store/index-table.ts';
import type { QueryComparison, QueryCondition } from './condition.ts';
import { shownBy } from './path.ts';
import { type Comparable, defaultAs, type Reading, readingOf } from './reading.ts';
import type { CompareAs } from './where.ts';

/** Decides about an object. `nowMs` is in milliseconds since the Unix epoch. */
export type Predicate = (object: unknown, nowMs: number) => boolean;

/** The index functions of the informer that is read, by name. */
export type IndexFuncs = Readonly<Record<string, IndexFunc<unknown>>>;

type Test = (value: unknown) => boolean;

function equals(value: Scalar, as: CompareAs | undefined): Test {
  const read = readingOf(as ?? defaultAs(value));
  const wanted = read(value);
  return (each) => read(each) === wanted;
}

function compares(
  value: Scalar,
  as: CompareAs | undefined,
  holds: (one: Comparable, other: Comparable) => boolean,
): Test {
  const read: Reading = readingOf(as ?? defaultAs(value));
  const bound = read(value) as Comparable;
  return (each) => {
    const comparable = read(each);
    return comparable !== undefined && holds(comparable, bound);
  };
}

function textTest(holds: (text: string) => boolean, ignoreCase = false): Test {
  const read = readingOf('text');
  return (value) => {
    const text = read(value);
    return typeof text === 'string' && holds(ignoreCase ? text.toLowerCase() : text);
  };
}

/** The test that some value must pass, and whether the condition is that none does. */
function testOf(condition: QueryComparison): { readonly test: Test; readonly none?: boolean } {
  const { as } = condition;
  if ('eq' in condition) return { test: equals(condition.eq, as) };
  if ('ne' in condition) return { test: equals(condition.ne, as), none: true };
  if ('in' in condition) {
    const tests = condition.in.map((value) => equals(value, as));
    return { test: (value) => tests.some((test) => test(value)) };
  }
  if ('lt' in condition) return { test: compares(condition.lt, as, (one, other) => one < other) };
  if ('lte' in condition)
    return { test: compares(condition.lte, as, (one, other) => one <= other) };
  if ('gt' in condition) return { test: compares(condition.gt, as, (one, other) => one > other) };
  if ('gte' in condition)
    return { test: compares(condition.gte, as, (one, other) => one >= other) };
  if ('exists' in condition) return { test: () => true, none: !condition.exists };
  if ('prefix' in condition) {
    return { test: textTest((text) => text.startsWith(condition.prefix), condition.ignoreCase) };
  }
  return { test: textTest((text) => text.includes(condition.contains), condition.ignoreCase) };
}

function comparisonPredicate(condition: QueryComparison): Predicate {
  const shownIn = shownBy(condition.path);
  const { test, none } = testOf(condition);
  return (object) => {
    const shown = shownIn(object);
    const holds = Array.isArray(shown) ? shown.some(test) : shown !== undefined && test(shown);
    return holds === !none;
  };
}

/** The predicate of a condition. `indices` must have each index that the condition names. */
export function predicateOf(condition: QueryCondition, indices: IndexFuncs): Predicate {
  if ('path' in condition) return comparisonPredicate(condition);
  const isOr = 'or' in condition;
  if (isOr || 'and' in condition) {
    const parts = (isOr ? condition.or : condition.and).map((each) => predicateOf(each, indices));
    return (object, nowMs) => {
      for (const part of parts) if (!part(object, nowMs) !== isOr) return isOr;
      return !isOr;
    };
  }
  if ('not' in condition) {
    const inner = predicateOf(condition.not, indices);
    return (object, nowMs) => !inner(object, nowMs);
  }
  if ('index' in condition) {
    const valuesOf = indices[condition.index] as IndexFunc<unknown>;
    // Without a value a function may return nothing, which the store accepts, too.
    return (object) =>
      indexValues(valuesOf, object as Stored<unknown>, condition.index).includes(condition.eq);
  }
  const test = condition.test as Predicate;
  return (object, nowMs) => synchronous(test(object, nowMs), 'the test');
}

/** The parts of a condition that must all hold. */
export function conjunctsOf(condition: QueryCondition | undefined): readonly QueryCondition[] {
  if (condition === undefined) return [];
  return 'and' in condition ? condition.and : [condition];
}

/** Whether nothing but data decides, so that an object may be asked about again. */
export function isData(condition: QueryCondition): boolean {
  if ('and' in condition) return condition.and.every(isData);
  if ('or' in condition) return condition.or.every(isData);
  return 'not' in condition ? isData(condition.not) : 'path' in condition;
}

/** The things that a condition reads: paths, indices, and functions by their keys. */
export interface Needs {
  readonly paths: Set<string>;
  readonly indices: Set<string>;
  readonly functions: Set<string>;
}

/** Adds what a condition reads. */
export function collectNeeds(condition: QueryCondition, needs: Needs): void {
  if ('path' in condition) needs.paths.add(condition.path);
  else if ('and' in condition) for (const each of condition.and) collectNeeds(each, needs);
  else if ('or' in condition) for (const each of condition.or) collectNeeds(each, needs);
  else if ('not' in condition) collectNeeds(condition.not, needs);
  else if ('index' in condition) needs.indices.add(condition.index);
  else needs.functions.add(condition.key);
}
