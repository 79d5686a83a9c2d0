/** `deepFreeze`, which freezes an object with everything in it. */

/** Whether a value is an array or a plain object, of this or another realm, that is not frozen yet. */
function isUnfrozen(value: unknown): value is object {
  // A value that is not an object counts as frozen.
  if (Object.isFrozen(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The values of the members. An accessor is not called, because the value behind it may be costly to make. */
function* dataOf(object: object): Generator<unknown> {
  for (const name of Object.keys(object)) {
    yield Object.getOwnPropertyDescriptor(object, name)?.value;
  }
}

/**
 * Freezes an object and all arrays and plain objects in it, at any depth. The contents of a frozen object count as
 * frozen; instances of classes are not frozen. The accessors of `object` itself are not called.
 */
export function deepFreeze(object: unknown): void {
  if (!isUnfrozen(object)) return;
  const found: object[] = [Object.freeze(object)];
  // The array grows during the loop, because a recursion would overflow the stack on a deeply nested object.
  for (const each of found) {
    for (const value of each === object ? dataOf(each) : Object.values(each)) {
      if (isUnfrozen(value)) found.push(Object.freeze(value));
    }
  }
}
