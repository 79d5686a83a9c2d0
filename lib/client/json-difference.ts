/**
 * What turns one JSON value into another, as steps of a JSON Patch. It compares by identity first, so that two
 * versions which share what did not change cost what did. immer's own patches are not used: an item put in front of
 * a list is one step here and as many as the list is long there, and a field set to `undefined` is no step of JSON.
 */
import { isFields } from '../meta/json-fields.ts';
import { type JsonPatchOperation, jsonPointer } from './patch.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What {@link jsonDifference} takes. */
export interface JsonDifferenceOptions {
  /**
   * Puts a `test` of the whole list before the steps that go into it: places in a list mean something only while
   * it is the same. @defaultValue false
   */
  readonly guardLists?: boolean;
}

/** The fields that JSON carries. */
function present(fields: Fields): string[] {
  return Object.keys(fields).filter((name) => fields[name] !== undefined);
}

/** A key `__proto__` that is assigned is no key: it takes the place of the prototype, and JSON would lose it. */
function checkPrototype(value: object, path: readonly (string | number)[]): void {
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null || Object.hasOwn(prototype, 'hasOwnProperty')) return;
  if (Array.isArray(value) || typeof (value as { toJSON?: unknown }).toJSON === 'function') return;
  throw new TypeError(
    `${jsonPointer(path) || 'the object'} has a prototype of its own: it is no JSON, or the key '__proto__' was assigned`,
  );
}

function checkAll(value: unknown, path: readonly (string | number)[]): void {
  if (typeof value !== 'object' || value === null) return;
  checkPrototype(value, path);
  for (const [name, part] of Object.entries(value)) checkAll(part, [...path, name]);
}

function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => same(item, b[index]))
    );
  }
  if (!isFields(a) || !isFields(b)) return false;
  const names = present(a);
  return (
    names.length === present(b).length &&
    names.every((name) => Object.hasOwn(b, name) && same(a[name], b[name]))
  );
}

/**
 * The steps that make `after` of `before`, in an order in which they can be taken. Nothing is changed or copied:
 * the values of the steps are those of `after`.
 *
 * Throws a `TypeError` on what is no JSON: an object with a prototype of its own.
 *
 * @example
 * ```ts
 * import { jsonDifference } from 'rx-informer';
 *
 * jsonDifference({ list: [1, 2] }, { list: [0, 1, 2] }); // => [{ op: 'add', path: '/list/0', value: 0 }]
 * ```
 */
export function jsonDifference(
  before: unknown,
  after: unknown,
  options: JsonDifferenceOptions = {},
): JsonPatchOperation[] {
  const steps: JsonPatchOperation[] = [];
  const { guardLists = false } = options;

  const put = (op: 'add' | 'replace', path: readonly (string | number)[], value: unknown) => {
    checkAll(value, path);
    // As JSON has it: null in a list, and nothing that `toJSON` would change later.
    steps.push({ op, path: jsonPointer(path), value: value === undefined ? null : value });
  };
  const fields = (a: Fields, b: Fields, path: readonly (string | number)[], guarded: boolean) => {
    for (const name of present(a)) {
      if (Object.hasOwn(b, name) && b[name] !== undefined) continue;
      steps.push({ op: 'remove', path: jsonPointer([...path, name]) });
    }
    for (const name of present(b)) {
      const at = [...path, name];
      if (Object.hasOwn(a, name) && a[name] !== undefined) compare(a[name], b[name], at, guarded);
      else put('add', at, b[name]);
    }
  };
  const items = (
    a: readonly unknown[],
    b: readonly unknown[],
    path: readonly (string | number)[],
    guarded: boolean,
  ) => {
    let start = 0;
    const shorter = Math.min(a.length, b.length);
    while (start < shorter && same(a[start], b[start])) start++;
    let end = 0;
    while (end < shorter - start && same(a[a.length - 1 - end], b[b.length - 1 - end])) end++;
    const until = { a: a.length - end, b: b.length - end };
    if (start === until.a && start === until.b) return;
    if (guardLists && !guarded) steps.push({ op: 'test', path: jsonPointer(path), value: a });
    const both = Math.min(until.a, until.b);
    for (let at = start; at < both; at++) compare(a[at], b[at], [...path, at], true);
    for (let at = both; at < until.b; at++) put('add', [...path, at], b[at]);
    for (let at = both; at < until.a; at++) {
      steps.push({ op: 'remove', path: jsonPointer([...path, both]) });
    }
  };
  const compare = (
    a: unknown,
    b: unknown,
    path: readonly (string | number)[],
    guarded: boolean,
  ): void => {
    if (Object.is(a, b)) return;
    if (typeof b === 'object' && b !== null) checkPrototype(b, path);
    if (Array.isArray(a) && Array.isArray(b)) items(a, b, path, guarded);
    else if (isFields(a) && isFields(b)) fields(a, b, path, guarded);
    else put('replace', path, b);
  };
  compare(before, after, [], false);
  return steps;
}
