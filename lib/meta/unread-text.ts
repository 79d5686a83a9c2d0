/** Compares members that are parsed when they are first read, by their texts, so that comparing objects parses nothing. */

/** The getter of such a member. */
export interface LazyGetter {
  (): unknown;
  /** Returns the text of this member of an object; `undefined` if it was read. */
  unreadTextIn?(object: object): string | undefined;
}

function unreadText(object: object, name: string): string | undefined {
  const getter: LazyGetter | undefined = Object.getOwnPropertyDescriptor(object, name)?.get;
  return getter?.unreadTextIn?.(object);
}

/** Whether both members are unread and have the same text. */
export function haveSameText(one: object, other: object, name: string): boolean {
  const text = unreadText(one, name);
  return text !== undefined && text === unreadText(other, name);
}
