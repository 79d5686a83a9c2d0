/**
 * Computes the JSON Patch that turns one JSON value into another. Values are compared by identity first, so the cost
 * depends on what changed and not on the size of the values. The patches of immer are not used: for an item inserted
 * at the front of a list they contain a step per item instead of one step, and a field set to `undefined` becomes a
 * step that JSON cannot express.
 */
import { type Fields, isFields } from '../meta/json-fields.ts';
import {
  checkAllJson,
  checkItem,
  checkJson,
  type JsonPath,
  jsonOf,
  present,
  sameJson,
} from './json-value.ts';
import { type JsonPatchOperation, jsonPointer } from './patch.ts';

/** The options of {@link jsonDifference}. */
export interface JsonDifferenceOptions {
  /**
   * Makes the patch fail if it would overwrite data that `before` does not show. Before the steps that change items of
   * a list, the patch contains a `test` of the complete list, because indexes are valid only while the list is the
   * same. Before a step that adds, removes or replaces a list or a map as one value, the patch contains a `test` of the
   * previous value. If there was none, the `test` is for null, which kube-apiserver also matches with a missing value.
   * Scalar values are not tested.
   * @defaultValue false
   */
  readonly guard?: boolean | undefined;
}

/** Whether a value is a list or a map, into which another writer may have written. */
function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** The range in which two lists differ, without their common start and end. It is empty if the lists are equal. */
function differingRange(a: readonly unknown[], b: readonly unknown[]) {
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
    const { start, endOfA, endOfB } = differingRange(a, b);
    if (start === endOfA && start === endOfB) return;
    this.#test(a, b, path, guarded);
    const both = Math.min(endOfA, endOfB);
    for (let at = start; at < endOfB; at++) {
      if (at >= a.length || jsonOf(a[at]) !== null) checkItem(b[at], [...path, at]);
    }
    for (let at = start; at < both; at++) this.compare(a[at], b[at], [...path, at], true);
    for (let at = both; at < endOfB; at++) this.#put('add', [...path, at], b[at]);
    for (let at = both; at < endOfA; at++) {
      this.steps.push({ op: 'remove', path: jsonPointer([...path, both]) });
    }
  }

  /** Adds a `test` if the next step removes, replaces or adds a list or a map. */
  #test(before: unknown, after: unknown, path: JsonPath, guarded: boolean): void {
    if (!this.#guard || guarded) return;
    const value = jsonOf(before);
    if (isContainer(value) || isContainer(jsonOf(after))) {
      this.steps.push({ op: 'test', path: jsonPointer(path), value });
    }
  }

  #put(op: 'add' | 'replace', path: JsonPath, value: unknown): void {
    checkAllJson(value, path);
    this.steps.push({ op, path: jsonPointer(path), value });
  }
}

/**
 * Returns the patch steps that turn `before` into `after`, in the order in which they must be applied. Nothing is
 * changed or copied: the values of the steps are those of `after`. A value with a `toJSON` method, such as a date,
 * is compared and sent as the result of that method.
 *
 * Throws a `TypeError` on values that JSON would lose or send as null: NaN and Infinity, holes and `undefined` in lists,
 * functions, invalid dates, maps, objects with a custom prototype, and circular structures.
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
