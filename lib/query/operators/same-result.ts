/** Whether two results of an aggregate are the same to a reader. */
import { shallowEqual } from './shallow-equal.ts';

/** Compares two sets by their elements, and anything else like {@link shallowEqual}. */
export function sameResult(one: unknown, other: unknown): boolean {
  if (one instanceof Set && other instanceof Set) {
    if (one.size !== other.size) return false;
    for (const each of one) if (!other.has(each)) return false;
    return true;
  }
  return shallowEqual(one, other);
}
