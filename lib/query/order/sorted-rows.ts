/**
 * Rows in order: a list of short runs, so that a change costs O(log n) comparisons and the copy of one run. A run that
 * an order was given out with is copied before it changes.
 */
import type { Stored } from '../../meta/stored.ts';
import { ChunkedOrder, type RowRun } from './chunked-order.ts';
import type { CompareRows, IdentifiedRow } from './sort-in-steps.ts';

/** The most rows of a run. Copying two lists of this length takes about as long as finding the place of a row. */
const LONGEST_RUN = 512;

class Run<T> implements RowRun<T> {
  ids: string[];
  rows: Stored<T>[];
  /** When the lists were copied; they may be changed while no order was given out since. */
  copiedAt: number;

  constructor(ids: string[], rows: Stored<T>[], copiedAt: number) {
    this.ids = ids;
    this.rows = rows;
    this.copiedAt = copiedAt;
  }
}

export class SortedRows<T> {
  readonly #compare: CompareRows<T>;
  #runs: Run<T>[] = [];
  readonly #runOf = new Map<string, Run<T>>();
  #given: ChunkedOrder<T> | undefined;
  /** Counts the orders that were given out. */
  #orders = 0;

  readonly #keyOf: (id: string) => string | undefined;

  constructor(compare: CompareRows<T>, keyOf: (id: string) => string | undefined) {
    this.#compare = compare;
    this.#keyOf = keyOf;
  }

  get size(): number {
    return this.#runOf.size;
  }

  has(id: string): boolean {
    return this.#runOf.has(id);
  }

  /** Inserts a row at its place. What the comparison throws leaves the rows as they were. */
  insert(id: string, row: Stored<T>): void {
    const at = this.#runFor(id, row);
    const run = this.#runs[at];
    if (run === undefined) {
      this.#changed();
      const first = new Run([id], [row], this.#orders);
      this.#runs.push(first);
      this.#runOf.set(id, first);
      return;
    }
    const place = this.#placeIn(run, id, row);
    this.#own(run);
    run.ids.splice(place, 0, id);
    run.rows.splice(place, 0, row);
    this.#runOf.set(id, run);
    if (run.ids.length > LONGEST_RUN) this.#split(at, run);
  }

  /** Replaces a row by another state of it, which may belong elsewhere. */
  replace(id: string, before: Stored<T>, row: Stored<T>): void {
    const run = this.#runOf.get(id);
    if (run === undefined) return this.insert(id, row);
    const place = this.#find(run, id, before);
    // Compared with its neighbors first, because most changes move no row.
    if (!this.#fits(run, place, id, row)) {
      this.#take(run, place, id);
      return this.insert(id, row);
    }
    if (before === row) return;
    this.#own(run);
    run.rows[place] = row;
  }

  remove(id: string, row: Stored<T>): void {
    const run = this.#runOf.get(id);
    if (run !== undefined) this.#take(run, this.#find(run, id, row), id);
  }

  /** Removes a row whose placed state is not known. */
  drop(id: string): void {
    const run = this.#runOf.get(id);
    if (run !== undefined) this.#take(run, run.ids.indexOf(id), id);
  }

  /**
   * Fills in rows that are in order already, in short steps. Call it on an empty list. `isCurrent` says whether a row
   * still has this state; another one is left out.
   */
  *fill(
    rows: readonly IdentifiedRow<T>[],
    isCurrent: (row: IdentifiedRow<T>) => boolean,
  ): Generator<void, void, void> {
    const length = LONGEST_RUN / 2;
    for (let at = 0; at < rows.length; at += length) {
      // Not after the last run, so that a few rows are filled in one step.
      if (at > 0) yield;
      const ids: string[] = [];
      const objects: Stored<T>[] = [];
      const run = new Run(ids, objects, this.#orders);
      for (let each = at; each < Math.min(at + length, rows.length); each++) {
        const identified = rows[each] as IdentifiedRow<T>;
        if (!isCurrent(identified)) continue;
        ids.push(identified.id);
        objects.push(identified.row);
        this.#runOf.set(identified.id, run);
      }
      this.#changed();
      if (ids.length > 0) this.#runs.push(run);
    }
  }

  /** The order now. The same object until something changes. */
  order(): ChunkedOrder<T> {
    if (this.#given === undefined) {
      this.#given = new ChunkedOrder(
        this.#runs.map(({ ids, rows }) => ({ ids, rows })),
        this.#keyOf,
      );
      this.#orders++;
    }
    return this.#given;
  }

  /** Compares two rows; ties are broken by the id, in code units. NaN counts as 0. */
  #compareAll(id: string, row: Stored<T>, otherId: string, other: Stored<T>): number {
    const compared = this.#compare(row, other);
    if (compared < 0 || compared > 0) return compared;
    if (id === otherId) return 0;
    return id < otherId ? -1 : 1;
  }

  /** The first run whose last row does not come before the row, or the last run. */
  #runFor(id: string, row: Stored<T>): number {
    let low = 0;
    let high = this.#runs.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const { ids, rows } = this.#runs[middle] as Run<T>;
      const last = ids.length - 1;
      const compared = this.#compareAll(id, row, ids[last] as string, rows[last] as Stored<T>);
      if (compared <= 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #placeIn(run: Run<T>, id: string, row: Stored<T>): number {
    let low = 0;
    let high = run.ids.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const otherId = run.ids[middle] as string;
      if (this.#compareAll(id, row, otherId, run.rows[middle] as Stored<T>) < 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The place of a row that is in the run. */
  #find(run: Run<T>, id: string, row: Stored<T>): number {
    let place = -1;
    try {
      place = this.#placeIn(run, id, row) - 1;
    } catch {
      // The comparison no longer stands the row.
    }
    // A comparison that depends on the time may have changed its mind.
    return run.ids[place] === id ? place : run.ids.indexOf(id);
  }

  /** Whether the row belongs between the neighbors of its place. At the ends of a run it is not known. */
  #fits({ ids, rows }: Run<T>, place: number, id: string, row: Stored<T>): boolean {
    if (place === 0 || place === ids.length - 1) return false;
    const before = this.#compareAll(
      id,
      row,
      ids[place - 1] as string,
      rows[place - 1] as Stored<T>,
    );
    if (before < 0) return false;
    const after = this.#compareAll(id, row, ids[place + 1] as string, rows[place + 1] as Stored<T>);
    return after < 0;
  }

  #take(run: Run<T>, place: number, id: string): void {
    this.#own(run);
    run.ids.splice(place, 1);
    run.rows.splice(place, 1);
    this.#runOf.delete(id);
    if (run.ids.length < LONGEST_RUN / 8) this.#mend(run);
  }

  #changed(): void {
    this.#given = undefined;
  }

  /** Copies the lists of a run if an order has them. */
  #own(run: Run<T>): void {
    this.#changed();
    if (run.copiedAt === this.#orders) return;
    run.ids = run.ids.slice();
    run.rows = run.rows.slice();
    run.copiedAt = this.#orders;
  }

  #split(at: number, run: Run<T>): void {
    const half = run.ids.length >>> 1;
    const second = new Run(run.ids.splice(half), run.rows.splice(half), this.#orders);
    for (const id of second.ids) this.#runOf.set(id, second);
    this.#runs.splice(at + 1, 0, second);
  }

  /** Joins a short run to a neighbor, so that the number of runs follows the number of rows. */
  #mend(run: Run<T>): void {
    const at = this.#runs.indexOf(run);
    const neighbor = this.#runs[at + 1] ?? this.#runs[at - 1];
    if (run.ids.length > 0 && neighbor !== undefined) {
      if (run.ids.length + neighbor.ids.length > LONGEST_RUN / 2) return;
      this.#own(neighbor);
      const isBefore = this.#runs[at + 1] === neighbor;
      neighbor.ids.splice(isBefore ? 0 : neighbor.ids.length, 0, ...run.ids);
      neighbor.rows.splice(isBefore ? 0 : neighbor.rows.length, 0, ...run.rows);
      for (const id of run.ids) this.#runOf.set(id, neighbor);
    } else if (run.ids.length > 0) return;
    this.#runs.splice(at, 1);
  }
}
