/** Whether two lists have the same elements at the same places. */

export function sameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  if (one.length !== other.length) return false;
  // A loop, because every changed list is compared, and `every` is slower.
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}
