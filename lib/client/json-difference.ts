/**
 * What turns one JSON value into another, as steps of a JSON Patch. It compares by identity first, so that two
 * versions which share what did not change cost what did. immer's own patches are not used: an item put in front of
 * a list is one step here and as many as the list is long there, and a field set to `undefined` is no step of JSON.
 */
import { type Fields, isFields } from '../meta/json-fields.ts';
import { checkAllJson, checkJson, type JsonPath, jsonOf, present, sameJson } from './json-value.ts';
import { type JsonPatchOperation, jsonPointer } from './patch.ts';

/** What {@link jsonDifference} takes. */
export interface JsonDifferenceOptions {
  /**
   * Makes the steps fail where they would overwrite what `before` does not show: puts a `test` of a whole list before
   * the steps that go into it, as places in it mean something only while it is the same, and a `test` before a list or
   * a map that is added, removed or replaced as a whole. Single values are not tested. A `test` for null stands for
   * nothing being there, as kube-apiserver reads it. @defaultValue false
   */
  readonly guard?: boolean | undefined;
}

/** Whether others may have written into a part of it. */
function isWhole(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** Of two lists the part between what they begin and end with alike; all empty where they are the same. */
function between(a: readonly unknown[], b: readonly unknown[]) {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && sameJson(a[start], b[start])) start++;
  let end = 0;
  while (end < shorter - start && sameJson(a[a.length - 1 - end], b[b.length - 1 - end])) end++;
  return { start, endOfA: a.length - end, endOfB: b.length - end };
}

class Difference {
  readonly steps: JsonPatchOperation[] = [];
  readonly #guard: boolean;

  constructor(guard: boolean) {
    this.#guard = guard;
  }

  compare(before: unknown, after: unknown, path: JsonPath, guarded: boolean): void {
    if (before === after || Object.is(before, after)) return;
    checkJson(after, path);
    const a = jsonOf(before);
    const b = jsonOf(after);
    if (Array.isArray(a) && Array.isArray(b)) this.#items(a, b, path, guarded);
    else if (isFields(a) && isFields(b)) this.#fields(a, b, path, guarded);
    else if (a !== b) {
      this.#test(before, after, path, guarded);
      this.#put('replace', path, after);
    }
  }

  #fields(a: Fields, b: Fields, path: JsonPath, guarded: boolean): void {
    for (const name of present(a)) {
      if (Object.hasOwn(b, name) && b[name] !== undefined) continue;
      const at = [...path, name];
      this.#test(a[name], undefined, at, guarded);
      this.steps.push({ op: 'remove', path: jsonPointer(at) });
    }
    for (const name of present(b)) {
      const at = [...path, name];
      if (Object.hasOwn(a, name) && a[name] !== undefined) {
        this.compare(a[name], b[name], at, guarded);
      } else {
        this.#test(undefined, b[name], at, guarded);
        this.#put('add', at, b[name]);
      }
    }
  }

  #items(a: readonly unknown[], b: readonly unknown[], path: JsonPath, guarded: boolean): void {
    const { start, endOfA, endOfB } = between(a, b);
    if (start === endOfA && start === endOfB) return;
    this.#test(a, b, path, guarded);
    const both = Math.min(endOfA, endOfB);
    for (let at = start; at < both; at++) this.compare(a[at], b[at], [...path, at], true);
    for (let at = both; at < endOfB; at++) this.#put('add', [...path, at], b[at]);
    for (let at = both; at < endOfA; at++) {
      this.steps.push({ op: 'remove', path: jsonPointer([...path, both]) });
    }
  }

  /** Of a list or a map that the next step would take away, or put where there may be one by now. */
  #test(before: unknown, after: unknown, path: JsonPath, guarded: boolean): void {
    if (!this.#guard || guarded) return;
    const value = jsonOf(before);
    if (isWhole(value) || isWhole(jsonOf(after))) {
      this.steps.push({ op: 'test', path: jsonPointer(path), value });
    }
  }

  #put(op: 'add' | 'replace', path: JsonPath, value: unknown): void {
    checkAllJson(value, path);
    // As JSON has it: null in a list.
    this.steps.push({ op, path: jsonPointer(path), value: value === undefined ? null : value });
  }
}

/**
 * The steps that make `after` of `before`, in an order in which they can be taken. Nothing is changed or copied:
 * the values of the steps are those of `after`. What has a `toJSON`, as a date has, counts as what that answers.
 *
 * Throws a `TypeError` on what is no JSON and would be lost or sent as null: a number that is none, a function, an
 * invalid date, a map, an object with a prototype of its own, one that holds itself.
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
  const difference = new Difference(options.guard ?? false);
  difference.compare(before, after, [], false);
  return difference.steps;
}
