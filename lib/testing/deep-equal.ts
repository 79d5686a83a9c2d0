/** Compares values by content, without a test framework: for marble tests and for updates without changes. */

/** Whether two values have the same content. Property order and `undefined` properties are ignored. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (a instanceof Date) return a.getTime() === (b as Date).getTime();
  if (a instanceof Map || a instanceof Set) return deepEqual([...a], [...(b as Iterable<unknown>)]);
  if (a instanceof Error) {
    if (a.name !== (b as Error).name || a.message !== (b as Error).message) return false;
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  if (Array.isArray(a) && a.length !== (b as unknown[]).length) return false;
  for (const key of Object.keys(left)) if (!deepEqual(left[key], right[key])) return false;
  for (const key of Object.keys(right)) {
    if (right[key] !== undefined && !Object.hasOwn(left, key)) return false;
  }
  return true;
}
