/** The errors of an invalid query. */

import { check, checkedFunction, checkedName, shownValue } from '../../checks/checked-option.ts';

/** Throws a `TypeError` that names the field: `liveQuery: where.and[1].path …`. */
export function refused(field: string, what: string): never {
  throw new TypeError(`liveQuery: ${field} ${what}`);
}

/** Throws such an error unless the value of the field is valid. */
export function checkField(
  isValid: boolean,
  field: string,
  value: unknown,
  must: string,
): asserts isValid {
  check(isValid, `liveQuery: ${field}`, value, must);
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
  return checkedName(key, `liveQuery: ${field}.key`, 'text that names the function');
}

/** The function that a key stands for. */
export function functionOf<F>(field: string, key: string, given: unknown): F {
  const must = `the function that ${shownValue(key)} stands for`;
  return checkedFunction(given as F, `liveQuery: ${field}`, must);
}
