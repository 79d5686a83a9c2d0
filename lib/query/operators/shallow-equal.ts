/** Whether two rows are equal field by field, and whether two lists have the same elements. */

/** Compares the fields of two plain objects, or the elements of two arrays, by `Object.is`; anything else itself. */
export function shallowEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
    return false;
  }
  const prototype: unknown = Object.getPrototypeOf(one);
  if (prototype !== Object.getPrototypeOf(other)) return false;
  if (!Array.isArray(one) && prototype !== Object.prototype && prototype !== null) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every(
      (name) =>
        Object.hasOwn(other, name) &&
        Object.is((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]),
    )
  );
}

export function sameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  if (one.length !== other.length) return false;
  // A loop, because every changed list is compared, and `every` is slower.
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}
