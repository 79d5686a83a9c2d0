/** A sorted multiset: each distinct value once, in short sorted runs, with how often it was added. */

/** A value that has a place among others: numbers (NaN last), then texts by code units, then booleans. */
export type SortableValue = number | bigint | string | boolean;

/** The most values of a run. Copying half of them takes about as long as finding a value. */
const LONGEST_RUN = 256;

const RANKS: Readonly<Record<string, number>> = { number: 0, bigint: 0, string: 1, boolean: 2 };

/** Compares two different values. `1` stands before `1n`. */
export function isBefore(one: SortableValue, other: SortableValue): boolean {
  const type = typeof one;
  const otherType = typeof other;
  if (type === otherType) {
    return one < other || (type === 'number' && Number.isNaN(other) && !Number.isNaN(one));
  }
  const rank = RANKS[type] as number;
  const otherRank = RANKS[otherType] as number;
  if (rank !== otherRank) return rank < otherRank;
  if (Number.isNaN(one)) return false;
  if (Number.isNaN(other)) return true;
  return one < other || (type === 'number' && otherType === 'bigint' && !(one > other));
}

export class SortedValues<V extends SortableValue> {
  readonly #counts = new Map<V, number>();
  #runs: V[][] = [];

  /** Adds a value, and returns whether it is new. */
  add(value: V): boolean {
    const count = this.#counts.get(value);
    this.#counts.set(value, (count ?? 0) + 1);
    if (count !== undefined) return false;
    this.#insert(value);
    return true;
  }

  /** Removes a value once, and returns whether none like it is left. Does nothing if there is none. */
  remove(value: V): boolean {
    const count = this.#counts.get(value);
    if (count === undefined) return false;
    if (count > 1) {
      this.#counts.set(value, count - 1);
      return false;
    }
    this.#counts.delete(value);
    this.#delete(value);
    return true;
  }

  /** The distinct values in order. */
  values(): V[] {
    return this.#runs.flat();
  }

  #insert(value: V): void {
    const at = Math.min(this.#runOf(value), Math.max(0, this.#runs.length - 1));
    const run = this.#runs[at];
    if (run === undefined) {
      this.#runs.push([value]);
      return;
    }
    run.splice(placeIn(run, value), 0, value);
    if (run.length > LONGEST_RUN) this.#runs.splice(at + 1, 0, run.splice(LONGEST_RUN / 2));
  }

  #delete(value: V): void {
    const at = this.#runOf(value);
    const run = this.#runs[at] as V[];
    run.splice(placeIn(run, value), 1);
    if (run.length === 0) this.#runs.splice(at, 1);
  }

  /** The first run whose last value is not before this value. */
  #runOf(value: V): number {
    let low = 0;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(this.#runs[middle]?.at(-1) as V, value)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The position of the first value that is not before this one. */
function placeIn<V extends SortableValue>(run: readonly V[], value: V): number {
  let low = 0;
  let high = run.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(run[middle] as V, value)) low = middle + 1;
    else high = middle;
  }
  return low;
}
