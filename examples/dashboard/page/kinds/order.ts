/** The sort orders of the tables. Each compares prepared keys, because `localeCompare` costs a hundred times as much as `<`. */
import type { Column, Row, Sort } from './kind.ts';

/** Negative if `a` comes before `b`, 0 if either order is right. */
export type CompareRows = (a: Row, b: Row) => number;

/** Compares two texts by code units, or two numbers. */
export function byValue<V extends string | number>(a: V, b: V): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * The comparator of a sort. Ties go by name and namespace, ascending in both directions. `liveSort` orders the rest by
 * UID.
 */
export function orderOf(sort: Sort, columns: readonly Column[]): CompareRows {
  const { id, by = id } = columns.find((column) => column.id === sort.key) ?? { id: sort.key };
  const sign = sort.descending ? -1 : 1;
  return (a, b) =>
    sign * byValue(a[by] ?? '', b[by] ?? '') ||
    // In a tree, the children follow their parent, whatever it is sorted by.
    byValue(a['path'] ?? '', b['path'] ?? '') ||
    byValue(a.name, b.name) ||
    byValue(a.namespace, b.namespace);
}
