/** Validates conditions, and brings them to one form, so that equal queries have one key. */
import { refusal, shownValue } from '../../checks/checked-option.ts';
import { isFields } from '../../meta/json-fields.ts';
import { formatPath, parsePath } from '../../meta/object-path.ts';
import type { Scalar } from '../../meta/typed-path.ts';
import { COMPARE_AS, defaultAs, isCompareAs, readingOf } from './reading.ts';
import { checkedKey, checkField, checkFields, functionOf, refused } from './refused.ts';
import type { CompareAs } from './where.ts';

/** The operators that take one value. */
export const VALUE_OPERATORS = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte'] as const;
export type ValueOperator = (typeof VALUE_OPERATORS)[number];
const OPERATORS = [
  'eq',
  'ne',
  'lt',
  'lte',
  'gt',
  'gte',
  'in',
  'exists',
  'prefix',
  'contains',
] as const;
type Operator = (typeof OPERATORS)[number];

/** A valid condition in its one form: plain data, and functions beside their keys. */
export type QueryCondition =
  | { readonly and: readonly QueryCondition[] }
  | { readonly or: readonly QueryCondition[] }
  | { readonly not: QueryCondition }
  | { readonly index: string; readonly eq: string }
  | { readonly key: string; readonly test: (object: never, nowMs: number) => boolean }
  | QueryComparison;

/** A valid condition on the values at a path. `as` is absent if it is what the value means by itself. */
export type QueryComparison = { readonly path: string; readonly as?: CompareAs } & (
  | { readonly [Op in ValueOperator]: Readonly<Record<Op, Scalar>> }[ValueOperator]
  | { readonly in: readonly Scalar[] }
  | { readonly exists: boolean }
  | { readonly prefix: string; readonly ignoreCase?: true }
  | { readonly contains: string; readonly ignoreCase?: true }
);

/** The path in its one form. Throws a `TypeError` if the value is not a path. */
export function checkedPath(field: string, path: unknown): string {
  const steps = typeof path === 'string' ? parsePath(path) : undefined;
  if (steps !== undefined) return formatPath(steps);
  const must = `a path such as 'status.phase' or 'metadata.labels["a.b/c"]'`;
  throw refusal(`liveQuery: ${field}`, path, must);
}

export function checkedAs(field: string, as: unknown): CompareAs | undefined {
  if (as === undefined || isCompareAs(as)) return as;
  throw refusal(`liveQuery: ${field}`, as, `one of ${COMPARE_AS.join(', ')}`);
}

function checkedValue(field: string, value: unknown, as: CompareAs | undefined): Scalar {
  const isScalar =
    typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
  checkField(isScalar, field, value, 'text, a finite number, true or false');
  const scalar = value as Scalar;
  if (as !== undefined && readingOf(as)(scalar) === undefined) {
    refused(field, `is ${shownValue(value)}, which cannot be read as ${as}`);
  }
  return Object.is(scalar, -0) ? 0 : scalar;
}

export function checkedText(field: string, value: unknown): string {
  checkField(typeof value === 'string', field, value, 'text');
  return value;
}

function comparison(field: string, given: Readonly<Record<string, unknown>>): QueryCondition {
  checkFields(field, given, ['path', 'as', 'ignoreCase', ...OPERATORS]);
  const path = checkedPath(`${field}.path`, given['path']);
  const as = checkedAs(`${field}.as`, given['as']);
  const present = OPERATORS.filter((name) => given[name] !== undefined);
  const [operator, second] = present;
  if (operator === undefined || second !== undefined) {
    const which = operator === undefined ? 'none' : present.join(' and ');
    refused(field, `must have one operator of ${OPERATORS.join(', ')}, and has ${which}`);
  }
  const { ignoreCase = false } = given;
  checkField(typeof ignoreCase === 'boolean', `${field}.ignoreCase`, ignoreCase, 'true or false');
  const condition = operation(field, path, as, operator, given[operator]);
  if (!ignoreCase) return condition;
  if ('prefix' in condition) {
    return { ...condition, prefix: condition.prefix.toLowerCase(), ignoreCase };
  }
  if ('contains' in condition) {
    return { ...condition, contains: condition.contains.toLowerCase(), ignoreCase };
  }
  return refused(`${field}.ignoreCase`, 'goes with contains or prefix alone');
}

function operation(
  field: string,
  path: string,
  as: CompareAs | undefined,
  operator: Operator,
  value: unknown,
): QueryCondition {
  const named = `${field}.${operator}`;
  if (operator === 'exists') {
    checkField(typeof value === 'boolean', named, value, 'true or false');
    return { path, exists: value };
  }
  if (operator === 'prefix' || operator === 'contains') {
    if (as !== undefined && as !== 'text') refused(named, `compares text, but as is '${as}'`);
    const text = checkedText(named, value);
    return operator === 'prefix' ? { path, prefix: text } : { path, contains: text };
  }
  if (operator === 'in') {
    checkField(Array.isArray(value), named, value, 'a list');
    const byJson = new Map<string, Scalar>();
    for (const [at, each] of value.entries()) {
      const scalar = checkedValue(`${named}[${at}]`, each, as);
      byJson.set(JSON.stringify(scalar), scalar);
    }
    const values = [...byJson].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, v]) => v);
    const [only] = values;
    if (only !== undefined && values.length === 1) return valued(path, 'eq', only, as);
    const isPlain = as === undefined || values.every((each) => defaultAs(each) === as);
    return isPlain ? { path, in: values } : { path, as, in: values };
  }
  const scalar = checkedValue(named, value, as);
  if (typeof scalar === 'boolean' && as === undefined && operator !== 'eq' && operator !== 'ne') {
    refused(named, `is ${value}, and truth values have no order`);
  }
  return valued(path, operator, scalar, as);
}

function valued(
  path: string,
  operator: ValueOperator,
  value: Scalar,
  as: CompareAs | undefined,
): QueryComparison {
  const isPlain = as === undefined || as === defaultAs(value);
  return { path, ...(isPlain ? {} : { as }), [operator]: value } as QueryComparison;
}

function list(field: string, value: unknown): QueryCondition[] {
  checkField(Array.isArray(value), field, value, 'a list of conditions');
  return value.map((each, at) => normalCondition(each, `${field}[${at}]`));
}

/** Several conditions in one: nested ones of the same kind are merged, and equal ones are one. */
function combined(word: 'and' | 'or', conditions: readonly QueryCondition[]): QueryCondition {
  const byJson = new Map<string, QueryCondition>();
  for (const condition of conditions) {
    const members = word in condition ? (condition as Record<string, unknown>)[word] : undefined;
    const each = members === undefined ? [condition] : (members as readonly QueryCondition[]);
    for (const member of each) byJson.set(JSON.stringify(member), member);
  }
  const sorted = [...byJson].sort(([one], [other]) => (one < other ? -1 : 1));
  const members = sorted.map(([, member]) => member);
  const [only] = members;
  if (only !== undefined && members.length === 1) return only;
  return word === 'and' ? { and: members } : { or: members };
}

function negated(condition: QueryCondition): QueryCondition {
  if ('not' in condition) return condition.not;
  if ('path' in condition) {
    const { path, as } = condition;
    if ('eq' in condition) return valued(path, 'ne', condition.eq, as);
    if ('ne' in condition) return valued(path, 'eq', condition.ne, as);
    if ('exists' in condition) return { path, exists: !condition.exists };
  }
  return { not: condition };
}

function noCondition(field: string, given: unknown): never {
  const must = '{ path, eq }, { and: [ … ] }, { or }, { not }, { index, eq } or { key, test }';
  throw refusal(`liveQuery: ${field}`, given, must);
}

/** Validates a condition and returns its one form. Throws a `TypeError` that names the field. */
export function normalCondition(given: unknown, field = 'where'): QueryCondition {
  if (!isFields(given)) return noCondition(field, given);
  if ('path' in given) return comparison(field, given);
  for (const word of ['and', 'or'] as const) {
    if (!(word in given)) continue;
    checkFields(field, given, [word]);
    return combined(word, list(`${field}.${word}`, given[word]));
  }
  if ('not' in given) {
    checkFields(field, given, ['not']);
    return negated(normalCondition(given['not'], `${field}.not`));
  }
  if ('index' in given) {
    checkFields(field, given, ['index', 'eq']);
    return {
      index: checkedText(`${field}.index`, given['index']),
      eq: checkedText(`${field}.eq`, given['eq']),
    };
  }
  if (!('key' in given)) return noCondition(field, given);
  checkFields(field, given, ['key', 'test']);
  const key = checkedKey(field, given['key']);
  return { key, test: functionOf(`${field}.test`, key, given['test']) };
}
