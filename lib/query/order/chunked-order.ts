/** The order of many rows, as the chunks of a sorted list were at one moment. */
import type { Stored } from '../../meta/stored.ts';
import type { RowOrder } from '../../store/change-set.ts';

/** A run of rows in order. A list that has been given to a {@link ChunkedOrder} is never changed. */
export interface RowRun<T> {
  readonly ids: readonly string[];
  readonly rows: readonly Stored<T>[];
}

export class ChunkedOrder<T> implements RowOrder<T> {
  readonly size: number;
  readonly #runs: readonly RowRun<T>[];
  /** The position of the first row of each run. */
  readonly #starts: readonly number[];
  #positions: Map<string, number> | undefined;

  readonly #keyOf: (id: string) => string | undefined;

  /** Takes the runs over: do not change them later. An id keeps its key, so `keyOf` may read a store that changes. */
  constructor(runs: readonly RowRun<T>[], keyOf: (id: string) => string | undefined) {
    const starts: number[] = [];
    let size = 0;
    for (const { ids } of runs) {
      starts.push(size);
      size += ids.length;
    }
    this.#runs = runs;
    this.#keyOf = keyOf;
    this.#starts = starts;
    this.size = size;
  }

  at(position: number): Stored<T> | undefined {
    const run = this.#runAt(position);
    return this.#runs[run]?.rows[position - (this.#starts[run] as number)];
  }

  idAt(position: number): string | undefined {
    const run = this.#runAt(position);
    return this.#runs[run]?.ids[position - (this.#starts[run] as number)];
  }

  keyAt(position: number): string | undefined {
    const id = this.idAt(position);
    return id === undefined ? undefined : (this.#keyOf(id) ?? id);
  }

  indexOf(id: string): number {
    if (this.#positions === undefined) {
      this.#positions = new Map();
      let position = 0;
      for (const { ids } of this.#runs)
        for (const each of ids) this.#positions.set(each, position++);
    }
    return this.#positions.get(id) ?? -1;
  }

  slice(start = 0, end: number = this.size): readonly Stored<T>[] {
    const from = Math.max(0, start);
    if (from === 0 && end >= this.size) {
      // The fastest way to copy many short lists into one.
      return ([] as Stored<T>[]).concat(...this.#runs.map(({ rows }) => rows));
    }
    const found: Stored<T>[] = [];
    for (let run = this.#runAt(from); run >= 0 && run < this.#runs.length; run++) {
      const first = this.#starts[run] as number;
      if (first >= end) break;
      const { rows } = this.#runs[run] as RowRun<T>;
      found.push(...rows.slice(Math.max(0, from - first), end - first));
    }
    return found;
  }

  /** The run that holds a position, or -1. */
  #runAt(position: number): number {
    if (!(position >= 0 && position < this.size)) return -1;
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#starts[middle] as number) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
