/** Looks at the members of lazy objects without reading them. */
import { lazyValuesOf } from '../../../lib/decode/lazy/lazy-object.ts';

/** The number of members that are not parsed yet. */
export function unparsed(objects: Iterable<object>): number {
  let count = 0;
  for (const object of objects) {
    for (const { text } of lazyValuesOf(object) ?? []) if (text !== undefined) count++;
  }
  return count;
}
