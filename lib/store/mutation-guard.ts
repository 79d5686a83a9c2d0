/**
 * The mutation guard, which finds code that changes cached objects. All consumers share these objects. Unless NODE_ENV
 * is `production`, stored objects are frozen, so the line that changes one throws an error that names the field.
 * client-go: tools/cache/mutation_detector.go, which compares copies every second and panics.
 */

/** `freeze` deep-freezes stored objects; `off` does not protect them. */
export type MutationGuard = 'freeze' | 'off';

declare const process: { readonly env: { readonly NODE_ENV?: string } };

/** The value of NODE_ENV; `undefined` if it is not set, as in a page without a bundler. */
function nodeEnv(): string | undefined {
  try {
    // Written in full, because bundlers replace exactly this expression, so that a production page freezes nothing.
    return process.env.NODE_ENV;
  } catch {
    return undefined;
  }
}

/** Returns `freeze`, unless NODE_ENV is `production`, because freezing costs as much as parsing. */
export function defaultMutationGuard(): MutationGuard {
  return nodeEnv() === 'production' ? 'off' : 'freeze';
}

/** Returns a function that freezes rows and lists that the library has made, not what is in them, unless in production. */
export function ownGuard(): <T extends object>(made: T) => T {
  return defaultMutationGuard() === 'freeze' ? Object.freeze : (made) => made;
}

/** Whether a value is an array or a plain object, of this or another realm, that is not frozen yet. */
function isUnfrozen(value: unknown): value is object {
  // A value that is not an object counts as frozen.
  if (Object.isFrozen(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Freezes an object and all arrays and plain objects in it, at any depth, if the guard does so. The contents of a frozen
 * object count as frozen; instances of classes are not frozen.
 */
export function guardObject<T>(object: T, guard: MutationGuard): T {
  if (guard !== 'freeze' || !isUnfrozen(object)) return object;
  const found: object[] = [Object.freeze(object)];
  // The array grows during the loop, because a recursion would overflow the stack on a deeply nested object.
  for (const each of found) {
    for (const value of Object.values(each)) {
      if (isUnfrozen(value)) found.push(Object.freeze(value));
    }
  }
  return object;
}
