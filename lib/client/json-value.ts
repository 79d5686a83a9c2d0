/** Values as JSON will have them when they are sent, and the refusal of those that it would lose. */
import { isFields } from '../meta/json-fields.ts';
import { jsonPointer } from './patch.ts';

/** Where a value stands: names of fields and places in lists. */
export type JsonPath = readonly (string | number)[];

/** What stands for a value in JSON: what its `toJSON` answers (a date is text), and null where nothing is. */
export function jsonOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value ?? null;
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === 'function' ? (toJSON.call(value) as unknown) : value;
}

/** The fields that JSON carries. */
export function present(fields: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(fields).filter((name) => fields[name] !== undefined);
}

function refuse(path: JsonPath, why: string): never {
  throw new TypeError(`${jsonPointer(path) || 'the object'} ${why}`);
}

/** A key `__proto__` that is assigned is no key: it takes the place of the prototype, and JSON would lose it. */
function hasOddPrototype(value: object): boolean {
  if (Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && !Object.hasOwn(prototype as object, 'hasOwnProperty');
}

/**
 * Throws a `TypeError` unless JSON can carry a value, itself and not what is in it: JSON would send a number that is
 * none as null, leave a function out, and lose what a prototype holds.
 */
export function checkJson(value: unknown, path: JsonPath): void {
  const made = jsonOf(value);
  if (made === null && typeof value === 'object' && value !== null) {
    // As an invalid date is.
    refuse(path, 'is null by its own toJSON');
  }
  if (typeof made === 'number' && !Number.isFinite(made)) {
    refuse(path, `is ${made}, which is not JSON and would be sent as null`);
  }
  if (typeof made === 'object') {
    if (made === null || !hasOddPrototype(made)) return;
    refuse(
      path,
      "has a prototype of its own, so it is not JSON, or the key '__proto__' was assigned",
    );
  }
  if (!['string', 'number', 'boolean'].includes(typeof made)) {
    refuse(path, `is a ${typeof made}, which is not JSON`);
  }
}

/** {@link checkJson} of a value and all that is in it. */
export function checkAllJson(
  value: unknown,
  path: JsonPath,
  within: readonly unknown[] = [],
): void {
  checkJson(value, path);
  const made = jsonOf(value);
  if (typeof made !== 'object' || made === null) return;
  if (within.includes(made)) refuse(path, 'contains itself, so it is not JSON');
  for (const [name, part] of Object.entries(made)) {
    if (part !== undefined) checkAllJson(part, [...path, name], [...within, made]);
  }
}

/** Whether two values are one in JSON; `false` of what is none. */
export function sameJson(before: unknown, after: unknown): boolean {
  // Zero has a sign that JSON does not carry; what is no number is still as it was.
  if (before === after || Object.is(before, after)) return true;
  const a = jsonOf(before);
  const b = jsonOf(after);
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (!isFields(a) || !isFields(b)) return a === b;
  if (hasOddPrototype(b)) return false;
  const names = present(a);
  return (
    names.length === present(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameJson(a[name], b[name]))
  );
}
