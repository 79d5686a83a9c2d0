/** Compares JSON values deeply. */

/** Whether two JSON values are deeply equal, in any order of fields. Values too deep for the stack count as different. */
export function sameContent(a: unknown, b: unknown): boolean {
  try {
    return same(a, b);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every(
    (name) =>
      Object.hasOwn(b, name) &&
      same((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]),
  );
}
