/** Makes the differences that bring a tab up to date out of the change sets that its query emits. */
import type { AnyChangeSet, RowOrder } from '../../store/change-set.ts';
import type { RowDifference } from '../messages.ts';
import { movedRows } from './moved-rows.ts';

type Set = AnyChangeSet<unknown>;
type Rows = NonNullable<RowDifference['rows']>;

/** What a set changes for a tab that has received all sets before it. */
export class RowDifferences {
  /** The rows without an order, in the order in which they were added. */
  #places = new Map<string, number>();
  /** The order that the tab has. */
  #order: RowOrder<unknown> | undefined;

  /** The rows, and what is gone. */
  of(set: Set): Pick<RowDifference, 'reset' | 'gone' | 'rows' | 'total' | 'synced'> {
    const { reset, synced } = set;
    const order = set.order as RowOrder<unknown> | undefined;
    const gone: string[] = [];
    const rows: [id: string, position: number, row: unknown][] = [];
    const before = this.#order;
    this.#order = order;
    if (order === undefined) this.#unordered(set, gone, rows);
    else if (reset) {
      for (let at = 0; at < order.size; at++)
        rows.push([order.idAt(at) as string, at, order.at(at)]);
    } else {
      for (const { id, previous, object } of set.changes) {
        if (object !== undefined) rows.push([id, order.indexOf(id), object]);
        else if (previous !== undefined) gone.push(id);
      }
      if (before !== undefined && before !== order) {
        const sent = new Set(set.changes.map(({ id }) => id));
        for (const at of movedRows(before, order, (id) => sent.has(id)))
          rows.push([order.idAt(at) as string, at, order.at(at)]);
      }
      rows.sort(([, one], [, other]) => one - other);
    }
    const total = set.total ?? order?.size ?? this.#places.size;
    return {
      ...(reset && { reset: true as const }),
      ...(gone.length > 0 && { gone }),
      ...(rows.length > 0 && { rows: rows as Rows }),
      total,
      synced,
    };
  }

  /** A changed row keeps its place, and an added row is the last one. */
  #unordered({ reset, changes }: Set, gone: string[], rows: [string, number, unknown][]): void {
    if (reset) this.#places = new Map();
    for (const { id, object } of changes) {
      if (object !== undefined || !this.#places.delete(id)) continue;
      gone.push(id);
    }
    if (gone.length > 0) {
      let at = 0;
      for (const id of this.#places.keys()) this.#places.set(id, at++);
    }
    for (const { id, object } of changes) {
      if (object === undefined) continue;
      const place = this.#places.get(id) ?? this.#places.size;
      this.#places.set(id, place);
      rows.push([id, place, object]);
    }
    rows.sort(([, one], [, other]) => one - other);
  }
}
