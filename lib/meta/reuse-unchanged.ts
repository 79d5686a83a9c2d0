/**
 * `reuseUnchanged`, which puts the unchanged parts of an object's previous state into its next state, so that code may
 * compare parts with `===`. Every event passes here, so the walk makes no closures and no arrays of names.
 */
import type { Fields } from './json-fields.ts';

/** The names of the members of the objects that are being compared, a frame for each depth. */
const names: string[] = [];
/** The parts to reuse, each after its place in its parent, a frame for each depth. */
const parts: unknown[] = [];
/** Above this length the two stacks are given up after use, because one huge object has passed. */
const KEPT_LENGTH = 4096;
let busy = false;

/**
 * Returns a value deeply equal to `next`, in which every plain object and array that is deeply equal to the one at the
 * same place of `previous` is that one. Returns `previous` if all is equal, and `next` itself if it has all these parts
 * already or if there are none. Changes neither argument.
 *
 * Equal means: the same members in the same order, as `JSON.stringify` shows them; -0 is not 0. An item of an array is
 * compared with the item at its index. If the arrays have different lengths, an item that equals the one at its
 * distance from the end is that one, so that the items after an insertion are found.
 *
 * Instances of classes are taken from `next`. An accessor is read like any member. Values too deep for the stack are not
 * compared.
 */
export function reuseUnchanged<T>(previous: unknown, next: T): T {
  if (previous === next || busy) return next;
  if (!isObject(previous) || !isObject(next)) return next;
  busy = true;
  try {
    return reuse(previous, next, 0, 0, false) as T;
  } catch {
    // The stack is exhausted, or a proxy or an accessor threw an error.
    return next;
  } finally {
    busy = false;
    release();
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Empties the stacks, because a value in them would otherwise stay in memory. */
function release(): void {
  if (names.length > KEPT_LENGTH) names.length = 0;
  if (parts.length > KEPT_LENGTH) parts.length = 0;
  for (let at = 0; at < parts.length && parts[at] !== undefined; at++) parts[at] = undefined;
}

/**
 * Compares two objects or arrays. `nameTop` and `partTop` are the ends of the frames in use. With `wholeOnly` the
 * comparison ends at the first difference, because only an equal value is of use.
 */
function reuse(
  previous: object,
  next: object,
  nameTop: number,
  partTop: number,
  wholeOnly: boolean,
): object {
  const isArray = Array.isArray(next);
  if (isArray !== Array.isArray(previous) || !isAlike(previous, next)) return next;
  return isArray
    ? reuseItems(previous as unknown[], next, nameTop, partTop, wholeOnly)
    : reuseMembers(previous as Fields, next as Fields, nameTop, partTop, wholeOnly);
}

/** Whether both values are plain objects, or both are plain arrays, of the same realm. */
function isAlike(previous: object, next: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(next);
  if (prototype !== Object.getPrototypeOf(previous)) return false;
  if (prototype === Object.prototype || prototype === Array.prototype || prototype === null)
    return true;
  // The prototypes of another realm: that of its arrays is an array itself.
  const above: object | null = Object.getPrototypeOf(prototype);
  if (above === null) return true;
  return Array.isArray(prototype) && Object.getPrototypeOf(above) === null;
}

function reuseMembers(
  previous: Fields,
  next: Fields,
  nameTop: number,
  partTop: number,
  wholeOnly: boolean,
): object {
  let nameEnd = nameTop;
  for (const name in previous) names[nameEnd++] = name;
  let nameAt = nameTop;
  let partEnd = partTop;
  let isEqual = true;
  for (const name in next) {
    if (nameAt >= nameEnd || names[nameAt++] !== name) {
      if (wholeOnly) return next;
      isEqual = false;
      nameAt = nameEnd;
      if (!Object.hasOwn(previous, name)) continue;
    }
    const before = previous[name];
    const value = next[name];
    // -0 === 0, but they are different texts.
    if (before === value && (value !== 0 || Object.is(before, value))) continue;
    if (isObject(before) && isObject(value)) {
      const merged = reuse(before, value, nameEnd, partEnd, wholeOnly);
      if (merged !== value) {
        parts[partEnd++] = name;
        parts[partEnd++] = merged;
      }
      if (merged === before) continue;
    }
    if (wholeOnly) return next;
    isEqual = false;
  }
  if (isEqual && nameAt === nameEnd) return previous;
  return partEnd === partTop || wholeOnly ? next : withParts(copyOf(next), partTop, partEnd);
}

function reuseItems(
  previous: readonly unknown[],
  next: readonly unknown[],
  nameTop: number,
  partTop: number,
  wholeOnly: boolean,
): object {
  const longer = next.length - previous.length;
  if (longer !== 0 && wholeOnly) return next;
  let partEnd = partTop;
  let isEqual = longer === 0;
  for (let at = 0; at < next.length; at++) {
    const value = next[at];
    if (!isObject(value)) {
      isEqual = isEqual && Object.is(previous[at], value);
      if (wholeOnly && !isEqual) return next;
      continue;
    }
    let merged: unknown =
      longer === 0 ? undefined : wholeOf(previous[at - longer], value, nameTop, partEnd);
    if (merged === undefined) {
      const before = previous[at];
      if (before === value) continue;
      merged = isObject(before) ? reuse(before, value, nameTop, partEnd, wholeOnly) : value;
      if (merged !== before) {
        if (wholeOnly) return next;
        isEqual = false;
      }
    }
    if (merged !== value) {
      parts[partEnd++] = at;
      parts[partEnd++] = merged;
    }
  }
  if (isEqual) return previous;
  return partEnd === partTop ? next : withParts(next.slice() as never, partTop, partEnd);
}

/** Returns `before` if it is deeply equal to `value`, otherwise `undefined`. */
function wholeOf(before: unknown, value: object, nameTop: number, partTop: number): unknown {
  if (!isObject(before)) return undefined;
  if (before === value) return before;
  return reuse(before, value, nameTop, partTop, true) === before ? before : undefined;
}

/** Copies an object with its prototype. A member named `__proto__` stays a member. */
function copyOf(object: Fields): Fields {
  const copy = { ...object };
  const prototype = Object.getPrototypeOf(object);
  return prototype === Object.prototype ? copy : Object.setPrototypeOf(copy, prototype);
}

/** Puts the parts of a frame into a copy, which has members at their places already. */
function withParts(copy: Fields, from: number, end: number): object {
  for (let at = from; at < end; at += 2) copy[parts[at] as string] = parts[at + 1];
  return copy;
}
