/** What a queue works on. */

/** A key is a text that is not empty. */
export function isKey(key: unknown): key is string {
  return typeof key === 'string' && key !== '';
}

/** What stands for a key that is none in an error: no content of an object, which may be secret. */
export function shownKey(key: unknown): string {
  if (typeof key === 'string') return `'${key}'`;
  const isWhole = typeof key === 'object' || typeof key === 'function';
  return isWhole && key !== null ? `a value of type ${typeof key}` : String(key);
}
