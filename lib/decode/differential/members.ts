/**
 * Reads members of parsed objects and copies these objects. Each depth has its own line of code, because V8 caches the
 * shapes of objects by line, and the objects at one depth have few shapes.
 */

type Container = Record<string, unknown> & unknown[];

/** Returns the member of an array by its index, or of an object by its name; `undefined` if there is no object. */
export function memberOf(value: unknown, name: string | undefined, index: number): unknown {
  if (value === undefined) return undefined;
  return name === undefined ? (value as unknown[])[index] : (value as Container)[name];
}

/** Returns a copy of an array or object at this depth of a document. */
export function copyOf(value: unknown, depth: number): Container {
  if (Array.isArray(value)) return value.slice() as Container;
  const object = value as Container;
  if (depth === 0) return { ...object };
  if (depth === 1) return { ...object };
  if (depth === 2) return { ...object };
  if (depth === 3) return { ...object };
  return { ...object };
}
