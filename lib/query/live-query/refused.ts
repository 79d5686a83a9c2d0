/** The errors of an invalid query. */

/** A value as it is shown in a message. */
export function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  const text = /^(bigint|number)$/.test(typeof value) ? undefined : JSON.stringify(value);
  if (text === undefined) return String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** Throws a `TypeError` that names the field: `liveQuery: where.and[1].path …`. */
export function refused(field: string, what: string): never {
  throw new TypeError(`liveQuery: ${field} ${what}`);
}

/** Throws a `TypeError` on a field that is not one of these. Fields that are `undefined` count as left out. */
export function checkFields(
  field: string,
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
): void {
  const odd = Object.keys(value).find((name) => !known.includes(name));
  if (odd === undefined) return;
  const named = field === '' ? odd : `${field}.${odd}`;
  refused(named, `is not a field of a query; known here: ${known.join(', ')}`);
}

/** The key of a function, which stands for it when queries are compared. */
export function checkedKey(field: string, key: unknown): string {
  if (typeof key === 'string' && key !== '') return key;
  return refused(`${field}.key`, `is ${shown(key)}; it must be text that names the function`);
}

/** The function that a key stands for. */
export function checkedFunction<F>(field: string, key: string, given: unknown): F {
  if (typeof given === 'function') return given as F;
  return refused(field, `is ${shown(given)}; give the function that ${shown(key)} stands for`);
}
