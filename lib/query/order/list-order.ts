/** The order of a few rows, such as a window: lists that never change. */

import type { Stored } from '../../meta/kubernetes-object.ts';
import type { RowOrder } from '../../store/change-set.ts';
import type { AnswerRows } from '../engine/machine.ts';

export class ListOrder<T> implements RowOrder<T> {
  readonly #ids: readonly string[];
  readonly #keys: readonly string[];
  readonly #rows: readonly Stored<T>[];
  #positions: Map<string, number> | undefined;

  /** Takes the lists over: do not change them later. */
  constructor(ids: readonly string[], keys: readonly string[], rows: readonly Stored<T>[]) {
    this.#ids = ids;
    this.#keys = keys;
    this.#rows = rows;
  }

  get size(): number {
    return this.#ids.length;
  }

  at(position: number): Stored<T> | undefined {
    return this.#rows[position];
  }

  idAt(position: number): string | undefined {
    return this.#ids[position];
  }

  keyAt(position: number): string | undefined {
    return this.#keys[position];
  }

  indexOf(id: string): number {
    this.#positions ??= new Map(this.#ids.map((each, position) => [each, position]));
    return this.#positions.get(id) ?? -1;
  }

  slice(start = 0, end: number = this.size): readonly Stored<T>[] {
    return this.#rows.slice(Math.max(0, start), Math.max(0, end));
  }

  /** Whether the other order has the same rows at the same places. */
  equals(other: ListOrder<T>): boolean {
    return (
      this.size === other.size &&
      this.#ids.every((id, at) => id === other.#ids[at] && this.#rows[at] === other.#rows[at])
    );
  }
}

/** The rows of an answer in the order of its source. Rows that the answer does not have are left out. */
export function orderedBy<T>(order: RowOrder<unknown>, answer: AnswerRows<T>): ListOrder<T> {
  const ids: string[] = [];
  const keys: string[] = [];
  const rows: Stored<T>[] = [];
  for (let at = 0; at < order.size; at++) {
    const id = order.idAt(at) as string;
    const row = answer.get(id);
    if (row === undefined) continue;
    ids.push(id);
    keys.push(row.key);
    rows.push(row.object);
  }
  return new ListOrder(ids, keys, rows);
}
