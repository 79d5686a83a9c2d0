/**
 * Rows in order: a list of short runs, so that a change costs O(log n) comparisons and the copy of one run. A run that
 * an order was given out with is copied before it changes.
 */

import { ChunkedOrder, RowRun, type SortedRow } from './chunked-order.ts';
import { type InOrder, placeOf } from './sort-in-steps.ts';

/** The most rows of a run. Copying two lists of this length takes about as long as finding the place of a row. */
const LONGEST_RUN = 512;
/** The most rows of a run that is filled in, so that it can grow. */
const LONGEST_FILLED_RUN = 384;

export class SortedRows<T> {
  readonly #inOrder: InOrder<SortedRow<T>>;
  #runs: RowRun<T>[] = [];
  #size = 0;
  #given: ChunkedOrder<T> | undefined;
  /** Counts the orders that were given out. */
  #orders = 0;

  /** `inOrder` must tell any two rows apart, because a row is found again by comparing. */
  constructor(inOrder: InOrder<SortedRow<T>>) {
    this.#inOrder = inOrder;
  }

  get size(): number {
    return this.#size;
  }

  /** The row that comes last. */
  get last(): SortedRow<T> | undefined {
    return this.#runs.at(-1)?.rows.at(-1);
  }

  /** Inserts a row at its place. What the comparison throws leaves the rows as they were. */
  insert(row: SortedRow<T>): void {
    const at = this.#runFor(row);
    let run = this.#runs[at];
    if (run === undefined) {
      run = new RowRun<T>([], [], this.#orders);
      this.#runs.push(run);
    }
    const place = placeOf(row, run.rows, this.#inOrder);
    this.#own(run);
    run.rows.splice(place, 0, row);
    run.objects.splice(place, 0, row.object);
    row.run = run;
    this.#size++;
    if (run.rows.length > LONGEST_RUN) this.#split(at, run);
  }

  /** Replaces a row by another state of it, which may belong elsewhere, unless `stays`. */
  replace(before: SortedRow<T>, row: SortedRow<T>, stays = false): void {
    const { run } = before;
    if (run === undefined) return this.insert(row);
    const place = run.rows.indexOf(before);
    // Compared with its neighbors first, because most changes move no row.
    if (!stays && !this.#fits(run, place, row)) {
      this.#take(run, place);
      return this.insert(row);
    }
    if (before === row) return;
    row.run = run;
    before.run = undefined;
    this.#own(run);
    run.rows[place] = row;
    run.objects[place] = row.object;
  }

  remove(row: SortedRow<T>): void {
    if (row.run !== undefined) this.#take(row.run, row.run.rows.indexOf(row));
  }

  /** Fills in lists of rows that are in order already, in short steps. Leaves out the rows that `isCurrent` refuses. */
  *fill(
    lists: readonly SortedRow<T>[][],
    isCurrent: (row: SortedRow<T>) => boolean,
  ): Generator<void, void, void> {
    let isFirst = true;
    for (const list of lists) {
      const length = Math.ceil(list.length / Math.ceil(list.length / LONGEST_FILLED_RUN));
      for (let at = 0; at < list.length; at += length) {
        // Not after the last run, so that a few rows are filled in one step.
        if (!isFirst) yield;
        isFirst = false;
        const rows = list.slice(at, at + length).filter(isCurrent);
        const run = new RowRun<T>(
          rows,
          rows.map(({ object }) => object),
          this.#orders,
        );
        for (const row of rows) row.run = run;
        this.#given = undefined;
        this.#size += rows.length;
        if (rows.length > 0) this.#runs.push(run);
      }
    }
  }

  /** The order now. The same object until something changes. */
  order(): ChunkedOrder<T> {
    if (this.#given === undefined) {
      this.#given = new ChunkedOrder(this.#runs.map(({ rows, objects }) => ({ rows, objects })));
      this.#orders++;
    }
    return this.#given;
  }

  /** The first run whose last row does not come before the row, or the last run. */
  #runFor(row: SortedRow<T>): number {
    let low = 0;
    let high = this.#runs.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { rows } = this.#runs[middle] as RowRun<T>;
      if (this.#inOrder(row, rows[rows.length - 1] as SortedRow<T>) <= 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Whether the row belongs between the neighbors of its place. At the ends of a run it is not known. */
  #fits({ rows }: RowRun<T>, place: number, row: SortedRow<T>): boolean {
    if (place === 0 || place === rows.length - 1) return false;
    if (this.#inOrder(row, rows[place - 1] as SortedRow<T>) < 0) return false;
    return this.#inOrder(row, rows[place + 1] as SortedRow<T>) < 0;
  }

  #take(run: RowRun<T>, place: number): void {
    this.#own(run);
    const [row] = run.rows.splice(place, 1);
    run.objects.splice(place, 1);
    (row as SortedRow<T>).run = undefined;
    this.#size--;
    if (run.rows.length < LONGEST_RUN / 8) this.#mend(run);
  }

  /** Copies the lists of a run if an order has them. */
  #own(run: RowRun<T>): void {
    this.#given = undefined;
    if (run.copiedAt === this.#orders) return;
    run.rows = run.rows.slice();
    run.objects = run.objects.slice();
    run.copiedAt = this.#orders;
  }

  #split(at: number, run: RowRun<T>): void {
    const half = run.rows.length >>> 1;
    const second = new RowRun(run.rows.splice(half), run.objects.splice(half), this.#orders);
    for (const row of second.rows) row.run = second;
    this.#runs.splice(at + 1, 0, second);
  }

  /** Joins a short run to a neighbor, so that the number of runs follows the number of rows. */
  #mend(run: RowRun<T>): void {
    const at = this.#runs.indexOf(run);
    const neighbor = this.#runs[at + 1] ?? this.#runs[at - 1];
    if (run.rows.length > 0 && neighbor !== undefined) {
      if (run.rows.length + neighbor.rows.length > LONGEST_RUN / 2) return;
      this.#own(neighbor);
      const isBefore = this.#runs[at + 1] === neighbor;
      neighbor.rows.splice(isBefore ? 0 : neighbor.rows.length, 0, ...run.rows);
      neighbor.objects.splice(isBefore ? 0 : neighbor.objects.length, 0, ...run.objects);
      for (const row of run.rows) row.run = neighbor;
    } else if (run.rows.length > 0) return;
    this.#runs.splice(at, 1);
  }
}
