/** The order of many rows, as the chunks of a sorted list were at one moment, and the short runs that such a list is made of. */
import type { Change } from '../../delta/net-change.ts';
import type { Stored } from '../../meta/kubernetes-object.ts';
import type { RowOrder } from '../../store/change-set.ts';
import type { PlacedRow } from './list-order.ts';

/** One state of a row. Another state is another object, so an order that was given out keeps what it had. */
export class SortedRow<T> {
  readonly id: string;
  readonly key: string;
  readonly object: Stored<T>;
  /** The run that the row is placed in. */
  run: RowRun<T> | undefined;

  constructor(id: string, key: string, object: Stored<T>) {
    this.id = id;
    this.key = key;
    this.object = object;
    this.run = undefined;
  }
}

/** Two lists of one length. A list that was given out with an order is copied before it changes. */
export class RowRun<T> {
  rows: SortedRow<T>[];
  /** The objects of the rows, because lists of them are joined faster than they are built. */
  objects: Stored<T>[];
  /** When the lists were copied; they may be changed while no order was given out since. */
  copiedAt: number;

  constructor(rows: SortedRow<T>[], objects: Stored<T>[], copiedAt: number) {
    this.rows = rows;
    this.objects = objects;
    this.copiedAt = copiedAt;
  }
}

/** The lists of a run as an order has them. */
export interface GivenRun<T> {
  readonly rows: readonly PlacedRow<T>[];
  readonly objects: readonly Stored<T>[];
}

export class ChunkedOrder<T> implements RowOrder<T> {
  readonly size: number;
  readonly #runs: readonly GivenRun<T>[];
  /** The position of the first row of each run. */
  readonly #starts: readonly number[];
  #positions: Map<string, number> | undefined;

  /** Takes the runs over: do not change them later. */
  constructor(runs: readonly GivenRun<T>[]) {
    const starts: number[] = [];
    let size = 0;
    for (const { rows } of runs) {
      starts.push(size);
      size += rows.length;
    }
    this.#runs = runs;
    this.#starts = starts;
    this.size = size;
  }

  at(position: number): Stored<T> | undefined {
    return this.#rowAt(position)?.object;
  }

  idAt(position: number): string | undefined {
    return this.#rowAt(position)?.id;
  }

  keyAt(position: number): string | undefined {
    return this.#rowAt(position)?.key;
  }

  indexOf(id: string): number {
    if (this.#positions === undefined) {
      this.#positions = new Map();
      let position = 0;
      for (const { rows } of this.#runs)
        for (const row of rows) this.#positions.set(row.id, position++);
    }
    return this.#positions.get(id) ?? -1;
  }

  slice(start = 0, end: number = this.size): readonly Stored<T>[] {
    const from = Math.max(0, start);
    if (from === 0 && end >= this.size) {
      // The fastest way to copy many short lists into one.
      return ([] as Stored<T>[]).concat(...this.#runs.map(({ objects }) => objects));
    }
    const found: Stored<T>[] = [];
    for (const { object } of this.placed(from, end)) found.push(object);
    return found;
  }

  placed(start: number, end: number): readonly PlacedRow<T>[] {
    const from = Math.max(0, start);
    const found: PlacedRow<T>[] = [];
    for (let run = this.#runAt(from); run >= 0 && run < this.#runs.length; run++) {
      const first = this.#starts[run] as number;
      if (first >= end) break;
      const { rows } = this.#runs[run] as GivenRun<T>;
      found.push(...rows.slice(Math.max(0, from - first), end - first));
    }
    return found;
  }

  /** The rows as changes that add them. */
  additions(): Change<T>[] {
    const changes: Change<T>[] = [];
    for (const { rows } of this.#runs) {
      for (const { id, key, object } of rows) changes.push({ id, key, object });
    }
    return changes;
  }

  /** The order of what other rows are made of these, run by run. */
  mapped<B>(map: (run: GivenRun<T>) => GivenRun<B>): ChunkedOrder<B> {
    return new ChunkedOrder(this.#runs.map(map));
  }

  #rowAt(position: number): PlacedRow<T> | undefined {
    const run = this.#runAt(position);
    return this.#runs[run]?.rows[position - (this.#starts[run] as number)];
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
