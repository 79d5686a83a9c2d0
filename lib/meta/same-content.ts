/** Compares JSON values deeply. Members that are parsed when they are first read are compared by their texts instead. */

/**
 * Whether two JSON values are deeply equal, in any order of fields. Values too deep for the stack count as different.
 * Members of lazy objects that were not read yet are not parsed if their texts are equal.
 */
export function sameContent(a: unknown, b: unknown): boolean {
  try {
    return same(a, b, haveSameText);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function same(a: unknown, b: unknown, isUnread?: typeof haveSameText): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every(
    (name) =>
      isUnread?.(a, b, name) ||
      (Object.hasOwn(b, name) &&
        same((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name])),
  );
}

/** The getter of a member that is parsed when it is first read. */
export interface LazyGetter {
  (): unknown;
  /** Returns the text of this member of an object; `undefined` if it was read. */
  unreadTextIn?(object: object): string | undefined;
}

/** The text of a member of a lazy object; `undefined` if it was read, or is no such member. */
export function unreadText(object: object, name: string): string | undefined {
  const getter: LazyGetter | undefined = Object.getOwnPropertyDescriptor(object, name)?.get;
  return getter?.unreadTextIn?.(object);
}

/** Whether both members are unread and have the same text. */
function haveSameText(one: object, other: object, name: string): boolean {
  const text = unreadText(one, name);
  return text !== undefined && text === unreadText(other, name);
}
