/**
 * Keeps an array sorted. A batch costs one pass that copies references; sorting 10,000 rows for each batch would cost
 * ten times as much.
 */
import type { Compare } from './order.ts';
import type { PodRow } from './pod-row.ts';

/** The array without `gone` and with `fresh`, in order. Returns `rows` itself if nothing changes. */
export function mergeRows(
  rows: readonly PodRow[],
  gone: ReadonlySet<PodRow>,
  fresh: readonly PodRow[],
  compare: Compare,
): readonly PodRow[] {
  if (gone.size === 0 && fresh.length === 0) return rows;
  const incoming = fresh.toSorted(compare);
  const merged: PodRow[] = [];
  let from = 0;
  for (const row of incoming) {
    const to = insertionIndex(rows, row, compare, from);
    copy(rows, from, to, gone, merged);
    merged.push(row);
    from = to;
  }
  copy(rows, from, rows.length, gone, merged);
  return merged;
}

/** The index at which to insert `row`: the first index from `from` on whose row does not come before it. */
export function insertionIndex(
  rows: readonly PodRow[],
  row: PodRow,
  compare: Compare,
  from = 0,
): number {
  let low = from;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(rows[middle] as PodRow, row) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function copy(
  rows: readonly PodRow[],
  from: number,
  to: number,
  gone: ReadonlySet<PodRow>,
  into: PodRow[],
): void {
  for (let index = from; index < to; index++) {
    const row = rows[index] as PodRow;
    if (!gone.has(row)) into.push(row);
  }
}
