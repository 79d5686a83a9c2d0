/**
 * Finds consumers that change cached objects, which every other consumer holds too. Unless NODE_ENV is
 * `production`, stored objects are frozen, so the culprit's own line throws and names the field.
 * client-go: tools/cache/mutation_detector.go, which compares copies every second and panics.
 */

/** `freeze`: deep-freeze what is stored. `off`: trust. */
export type MutationGuard = 'freeze' | 'off';

declare const process: { readonly env: { readonly NODE_ENV?: string } };

/** The mode of the program; `undefined` if nobody has set it, as in a page without a bundler. */
function nodeEnv(): string | undefined {
  try {
    // Spelled out, because bundlers replace these very words; so a production page freezes nothing.
    return process.env.NODE_ENV;
  } catch {
    return undefined;
  }
}

/** `freeze`, unless NODE_ENV is `production`: freezing costs as much as parsing. */
export function defaultMutationGuard(): MutationGuard {
  return nodeEnv() === 'production' ? 'off' : 'freeze';
}

/** A list or a plain object, of this or another realm, that is not frozen yet. */
function isOpen(value: unknown): value is object {
  // What is no object counts as frozen.
  if (Object.isFrozen(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Freezes an object and all lists and plain objects in it, however deep they are nested. Everything in a frozen
 * object counts as frozen; instances of classes are left as they are.
 */
export function guardObject<T>(object: T, guard: MutationGuard): T {
  if (guard !== 'freeze' || !isOpen(object)) return object;
  const found: object[] = [Object.freeze(object)];
  // The list grows while it is read: a recursion would overflow the stack on an object that a server nests deep.
  for (const each of found) {
    for (const value of Object.values(each)) {
      if (isOpen(value)) found.push(Object.freeze(value));
    }
  }
  return object;
}
