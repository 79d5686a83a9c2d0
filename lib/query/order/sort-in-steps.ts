/** Sorts many rows in short steps: rows are divided among buckets, and the engine's own sort puts each bucket in order. */

/** Compares two rows like `Array.prototype.sort`. */
export type InOrder<R> = (one: R, other: R) => number;

/** The most rows that are sorted in one step, which takes some milliseconds. */
const ROWS_A_SORT = 4096;
/** How many rows a bucket is to have. Buckets differ, because the rows between them are estimated from a sample. */
const ROWS_A_BUCKET = 1024;
/** How many rows are looked at for each bucket, to find where it begins. */
const SAMPLES_A_BUCKET = 4;
/** How many rows are compared or divided between two steps. */
const ROWS_A_STEP = 512;
/** Buckets of buckets of buckets: a comparison that contradicts itself may never divide them. */
const DEEPEST = 3;

/** The position of a row in a sorted list: after those that it does not stand before. */
export function placeOf<R>(row: R, rows: readonly R[], inOrder: InOrder<R>): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (inOrder(row, rows[middle] as R) < 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Sorts the rows, and returns them as lists, one after another. May reuse `rows`. Errors as the comparison does. */
export function* sortInSteps<R>(
  rows: R[],
  inOrder: InOrder<R>,
  depth = 0,
): Generator<void, readonly R[][], void> {
  if (rows.length <= ROWS_A_SORT || depth === DEEPEST) return [rows.sort(inOrder)];
  if (yield* isSorted(rows, inOrder)) return [rows];
  const sorted: R[][] = [];
  for (const bucket of yield* divide(rows, inOrder)) {
    if (bucket.length > ROWS_A_SORT) {
      for (const part of yield* sortInSteps(bucket, inOrder, depth + 1)) sorted.push(part);
    } else if (bucket.length > 0) {
      sorted.push(bucket.sort(inOrder));
    }
    yield;
  }
  return sorted;
}

function* isSorted<R>(rows: readonly R[], inOrder: InOrder<R>): Generator<void, boolean, void> {
  for (let at = 1; at < rows.length; at++) {
    if (inOrder(rows[at - 1] as R, rows[at] as R) > 0) return false;
    if (at % ROWS_A_STEP === 0) yield;
  }
  return true;
}

function* divide<R>(rows: readonly R[], inOrder: InOrder<R>): Generator<void, R[][], void> {
  const firsts = firstsOf(rows, inOrder);
  const buckets: R[][] = Array.from({ length: firsts.length + 1 }, () => []);
  yield;
  for (let at = 0; at < rows.length; at += ROWS_A_STEP) {
    divideSome(rows, at, Math.min(at + ROWS_A_STEP, rows.length), { firsts, buckets, inOrder });
    yield;
  }
  return buckets;
}

/** The first rows of all buckets but the first, estimated from rows at equal distances. */
function firstsOf<R>(rows: readonly R[], inOrder: InOrder<R>): R[] {
  const buckets = Math.ceil(rows.length / ROWS_A_BUCKET);
  const samples: R[] = [];
  const distance = rows.length / (buckets * SAMPLES_A_BUCKET);
  for (let at = 0; at < rows.length; at += distance) samples.push(rows[Math.floor(at)] as R);
  samples.sort(inOrder);
  return samples.filter((_, at) => at > 0 && at % SAMPLES_A_BUCKET === 0);
}

interface Buckets<R> {
  readonly firsts: readonly R[];
  readonly buckets: readonly R[][];
  readonly inOrder: InOrder<R>;
}

function divideSome<R>(
  rows: readonly R[],
  from: number,
  to: number,
  { firsts, buckets, inOrder }: Buckets<R>,
): void {
  for (let at = from; at < to; at++) {
    const row = rows[at] as R;
    (buckets[placeOf(row, firsts, inOrder)] as R[]).push(row);
  }
}
