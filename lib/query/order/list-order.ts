/** The order of a few rows, such as a window: a list that never changes; and the rows of any order as such a list. */
import type { Stored } from '../../meta/kubernetes-object.ts';
import type { RowOrder } from '../../store/change-set.ts';

/** A row in an order. One state of a row: another state is another object. */
export interface PlacedRow<T> {
  readonly id: string;
  readonly key: string;
  readonly object: Stored<T>;
}

/** An order that gives its rows out at once, because a call for each row would cost more than the rest of a change. */
interface Listed<T> {
  placed(start: number, end: number): readonly PlacedRow<T>[];
}

export class ListOrder<T> implements RowOrder<T>, Listed<T> {
  readonly #placed: readonly PlacedRow<T>[];
  #positions: Map<string, number> | undefined;

  /** Takes the list over: do not change it later. */
  constructor(placed: readonly PlacedRow<T>[]) {
    this.#placed = placed;
  }

  get size(): number {
    return this.#placed.length;
  }

  at(position: number): Stored<T> | undefined {
    return this.#placed[position]?.object;
  }

  idAt(position: number): string | undefined {
    return this.#placed[position]?.id;
  }

  keyAt(position: number): string | undefined {
    return this.#placed[position]?.key;
  }

  indexOf(id: string): number {
    this.#positions ??= new Map(this.#placed.map((row, position) => [row.id, position]));
    return this.#positions.get(id) ?? -1;
  }

  slice(start = 0, end: number = this.size): readonly Stored<T>[] {
    const objects: Stored<T>[] = [];
    for (const { object } of this.placed(start, end)) objects.push(object);
    return objects;
  }

  placed(start: number, end: number): readonly PlacedRow<T>[] {
    return this.#placed.slice(Math.max(0, start), Math.max(0, end));
  }
}

/** The rows of an order from `start` to `end` (exclusive). */
export function placedRows<T>(
  order: RowOrder<T>,
  start = 0,
  end: number = order.size,
): readonly PlacedRow<T>[] {
  const { placed } = order as Partial<Listed<T>>;
  if (placed !== undefined) return placed.call(order, start, end);
  // An order of the user's own.
  return order.slice(start, end).map((object, at) => {
    const position = start + at;
    return { id: order.idAt(position) as string, key: order.keyAt(position) as string, object };
  });
}
