/** A set of objects that is mostly empty or of one element, without the weight of a `Set`. */

export type Few<T extends object> = T | Set<T> | undefined;

/** The set with the element, which it must not have yet. */
export function withElement<T extends object>(few: Few<T>, element: T): Few<T> {
  if (few === undefined) return element;
  if (few instanceof Set) return few.add(element);
  return new Set([few, element]);
}

/** The set without the element. */
export function withoutElement<T extends object>(few: Few<T>, element: T): Few<T> {
  if (!(few instanceof Set)) return few === element ? undefined : few;
  few.delete(element);
  return few.size === 0 ? undefined : few;
}

export function forEachElement<T extends object>(few: Few<T>, visit: (element: T) => void): void {
  if (few instanceof Set) for (const element of few) visit(element);
  else if (few !== undefined) visit(few);
}
