/** Compares values in their JSON form, and refuses values that JSON would lose. */
import { isFields } from '../meta/json-fields.ts';
import { jsonPointer } from './patch.ts';

/** The path of a value: names of fields and indexes of lists. */
export type JsonPath = readonly (string | number)[];

/** The JSON form of a value: the result of its `toJSON` (a date becomes text), and null for `undefined`. */
export function jsonOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value ?? null;
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === 'function' ? (toJSON.call(value) as unknown) : value;
}

/** The names of the fields that JSON includes. */
export function present(fields: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(fields).filter((name) => fields[name] !== undefined);
}

function refuse(path: JsonPath, why: string): never {
  throw new TypeError(`${jsonPointer(path) || 'the object'} ${why}`);
}

/** Whether the prototype is not a plain one. Assigning to `__proto__` sets the prototype, which JSON would lose. */
function hasOddPrototype(value: object): boolean {
  if (Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && !Object.hasOwn(prototype as object, 'hasOwnProperty');
}

/**
 * Throws a `TypeError` if JSON cannot represent a value. Checks the value itself, not its contents. JSON would send NaN
 * as null, omit a function, and lose the fields of a prototype.
 */
export function checkJson(value: unknown, path: JsonPath): void {
  const json = jsonOf(value);
  if (json === null && typeof value === 'object' && value !== null) {
    // For example an invalid date.
    refuse(path, 'becomes null by its own toJSON');
  }
  if (typeof json === 'number' && !Number.isFinite(json)) {
    refuse(path, `is ${json}, which is not JSON and would be sent as null`);
  }
  if (typeof json === 'object') {
    if (json === null || !hasOddPrototype(json)) return;
    refuse(path, "has a custom prototype, so it is not JSON, or the key '__proto__' was assigned");
  }
  if (!['string', 'number', 'boolean'].includes(typeof json)) {
    refuse(path, `is a ${typeof json}, which is not JSON`);
  }
}

/** Throws a `TypeError` if an item of a list is `undefined`, as a hole is: JSON would send it as null. */
export function checkItem(value: unknown, path: JsonPath): void {
  if (value === undefined) {
    refuse(
      path,
      'is undefined, which a list sends as null; remove the item by splice, or write null',
    );
  }
}

/** Applies {@link checkJson} to a value and all its contents. */
export function checkAllJson(
  value: unknown,
  path: JsonPath,
  within: readonly unknown[] = [],
): void {
  checkJson(value, path);
  const json = jsonOf(value);
  if (typeof json !== 'object' || json === null) return;
  if (within.includes(json)) refuse(path, 'contains itself, so it is not JSON');
  if (Array.isArray(json))
    for (let at = 0; at < json.length; at++) checkItem(json[at], [...path, at]);
  for (const [name, part] of Object.entries(json)) {
    if (part !== undefined) checkAllJson(part, [...path, name], [...within, json]);
  }
}

/** Whether two values have the same JSON form. Returns `false` if the second is not JSON, unless both are identical. */
export function sameJson(before: unknown, after: unknown): boolean {
  // JSON has no -0, so 0 and -0 are equal. `Object.is` makes an unchanged NaN equal.
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
