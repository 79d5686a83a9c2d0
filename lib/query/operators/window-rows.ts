/** The rows of a window, and what has changed in it. */

import { AnswerLog } from '../engine/answer-log.ts';
import type { Arrangement } from '../engine/machine.ts';
import { ListOrder, type PlacedRow } from '../order/list-order.ts';

export class WindowRows<T> {
  readonly rows: Map<string, PlacedRow<T>> = new Map();
  readonly log: AnswerLog<T> = new AnswerLog<T>(this.rows);
  arrangement: Arrangement<T> | undefined;
  /** The rows in order, and as the source has them. */
  #placed: readonly PlacedRow<T>[] = [];
  #source: readonly PlacedRow<T>[] = [];

  /** Shows these rows, and notes which differ from the former ones. */
  show(rows: readonly PlacedRow<T>[], total: number): void {
    const before = this.#placed;
    const source = this.#source;
    this.#source = rows;
    let isMoved = rows.length !== before.length;
    for (let at = 0; !isMoved && at < rows.length; at++) isMoved = rows[at]?.id !== before[at]?.id;
    if (isMoved) {
      const inside = new Set<string>();
      for (const { id } of rows) inside.add(id);
      for (const [id, row] of this.rows) {
        if (inside.has(id)) continue;
        this.log.touch(id, row);
        this.rows.delete(id);
      }
    }
    let isSame = !isMoved;
    const placed: PlacedRow<T>[] = [];
    for (let at = 0; at < rows.length; at++) {
      const given = rows[at] as PlacedRow<T>;
      const { id, key, object } = given;
      // Most rows are what and where they were.
      const former = given === source[at] ? before[at] : this.rows.get(id);
      // Rows of its own: those of the source would keep all rows of the source alive.
      const row = former?.object === object ? former : { id, key, object };
      placed.push(row);
      if (row === former) continue;
      isSame = false;
      this.log.touch(id, former);
      this.rows.set(id, row);
    }
    if (!isSame || this.arrangement === undefined) {
      this.#placed = placed;
      this.arrangement = { order: new ListOrder(placed), total };
    }
    this.count(total);
  }

  /** Shows another number of rows that are not all in the window. */
  count(total: number): void {
    const { arrangement } = this;
    if (arrangement !== undefined && arrangement.total !== total) {
      this.arrangement = { ...arrangement, total };
    }
  }
}
