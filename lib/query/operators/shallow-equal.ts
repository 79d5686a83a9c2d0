/** Whether two rows are equal field by field. */

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
