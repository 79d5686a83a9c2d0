/** Sorts many rows in short steps: runs by the engine's own sort, then merges of two runs. */
import type { Stored } from '../../meta/stored.ts';

/** Compares two rows like `Array.prototype.sort`. */
export type CompareRows<T> = (one: Stored<T>, other: Stored<T>) => number;

/** A row and its id. */
export interface IdentifiedRow<T> {
  readonly id: string;
  readonly row: Stored<T>;
}

/** The rows of a run that is sorted in one step, which takes some milliseconds. */
const ROWS_A_RUN = 4096;
/** The rows of a merge between two steps. */
const ROWS_A_STEP = 1024;

/** Compares by the user's function, then by id in code units. NaN counts as 0. */
export function byRowThenId<T>(
  compare: CompareRows<T>,
): (one: IdentifiedRow<T>, other: IdentifiedRow<T>) => number {
  return (one, other) => {
    const compared = compare(one.row, other.row);
    if (compared < 0 || compared > 0) return compared;
    if (one.id === other.id) return 0;
    return one.id < other.id ? -1 : 1;
  };
}

/** Sorts the rows in place where possible, and returns them. Errors as the comparison does. */
export function* sortInSteps<T>(
  rows: IdentifiedRow<T>[],
  compare: CompareRows<T>,
): Generator<void, IdentifiedRow<T>[], void> {
  const inOrder = byRowThenId(compare);
  if (rows.length <= ROWS_A_RUN) return rows.sort(inOrder);
  let from: IdentifiedRow<T>[] = [];
  for (let at = 0; at < rows.length; at += ROWS_A_RUN) {
    for (const row of rows.slice(at, at + ROWS_A_RUN).sort(inOrder)) from.push(row);
    yield;
  }
  let to: IdentifiedRow<T>[] = new Array(rows.length);
  for (let length = ROWS_A_RUN; length < rows.length; length *= 2) {
    for (let start = 0; start < rows.length; start += 2 * length) {
      const middle = Math.min(start + length, rows.length);
      yield* merge(from, to, start, middle, Math.min(middle + length, rows.length), inOrder);
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Merges two sorted runs of `from`, start … middle and middle … end, into the same place of `to`. */
function* merge<T>(
  from: readonly IdentifiedRow<T>[],
  to: IdentifiedRow<T>[],
  start: number,
  middle: number,
  end: number,
  inOrder: (one: IdentifiedRow<T>, other: IdentifiedRow<T>) => number,
): Generator<void, void, void> {
  let left = start;
  let right = middle;
  for (let at = start; at < end; at++) {
    const one = from[left] as IdentifiedRow<T>;
    const other = from[right] as IdentifiedRow<T>;
    const isLeft = right >= end || (left < middle && inOrder(one, other) <= 0);
    to[at] = isLeft ? one : other;
    if (isLeft) left++;
    else right++;
    if (at % ROWS_A_STEP === 0) yield;
  }
}
