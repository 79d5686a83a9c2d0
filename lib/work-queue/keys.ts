/** Validates the keys of a work queue. */

/** A valid key is a non-empty string. */
export function isKey(key: unknown): key is string {
  return typeof key === 'string' && key !== '';
}

/** Describes an invalid key in an error. The content of an object is not shown, because it may be secret. */
export function shownKey(key: unknown): string {
  if (typeof key === 'string') return `'${key}'`;
  const hasContent = typeof key === 'object' || typeof key === 'function';
  return hasContent && key !== null ? `a value of type ${typeof key}` : String(key);
}
