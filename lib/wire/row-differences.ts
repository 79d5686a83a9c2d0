/** Makes the differences that bring a reader up to date out of the change sets that its query emits. */
import { isFields } from '../meta/json-fields.ts';
import { metaNamespaceKeyFunc } from '../meta/key.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { RefusedRow } from '../query/engine/refused-rows.ts';
import type { AnyChangeSet, RowOrder } from '../store/change-set.ts';
import { movedRows } from './moved-rows.ts';
import type { RowDifference } from './row-difference.ts';

type Set = AnyChangeSet<unknown>;
type Rows = NonNullable<RowDifference['rows']>;

function keyOfRow(id: string, row: unknown): string {
  const metadata = isFields(row) ? row['metadata'] : undefined;
  const isObject = isFields(metadata) && typeof metadata['name'] === 'string';
  return isObject ? metaNamespaceKeyFunc(row as KubernetesObject) : id;
}

/** Why a row cannot be sent; `undefined` if it can. `what` names it. */
export type RowCheck = (what: () => string, row: unknown) => Error | undefined;

/** What a set changes for a reader that has received all sets before it. */
export class RowDifferences {
  /** The name of the operator that refuses rows, and its check. */
  readonly #operator: string;
  readonly #check: RowCheck;
  /** The rows without an order, in the order in which they were added. */
  #places = new Map<string, number>();
  /** The order that the reader has. */
  #order: RowOrder<unknown> | undefined;
  /** The rows that the reader does not get because no message can carry them, by id. Replaced when they change. */
  refused: ReadonlyMap<string, RefusedRow> = new Map();
  /** The number of rows of the reader, and of those outside of its window. */
  total = 0;

  constructor(operator: string, check: RowCheck) {
    this.#operator = operator;
    this.#check = check;
  }

  /** The rows, and what is gone. */
  of(set: Set): Pick<RowDifference, 'reset' | 'gone' | 'rows'> {
    const { reset } = set;
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
      const places = new Map(set.changes.map(({ id }) => [id, -1]));
      if (before !== undefined && before !== order) {
        for (const at of movedRows(before, order, places))
          rows.push([order.idAt(at) as string, at, order.at(at)]);
      }
      for (const { id, previous, object } of set.changes) {
        const found = places.get(id) as number;
        if (object !== undefined) rows.push([id, found < 0 ? order.indexOf(id) : found, object]);
        else if (previous !== undefined) gone.push(id);
      }
      rows.sort(([, one], [, other]) => one - other);
    }
    const kept = this.#refuse(reset, gone, rows, order);
    this.total = (set.total ?? order?.size ?? this.#places.size) - this.refused.size;
    return {
      ...(reset && { reset: true as const }),
      ...(gone.length > 0 && { gone }),
      ...(kept.length > 0 && { rows: kept as Rows }),
    };
  }

  /** Keeps rows out that no message can carry, and their places, so that the reader has the others. */
  #refuse(
    reset: boolean | undefined,
    gone: string[],
    rows: [string, number, unknown][],
    order: RowOrder<unknown> | undefined,
  ): [string, number, unknown][] {
    const errors = new Map<string, Error>();
    for (const [id, , row] of rows) {
      const error = this.#check(() => keyOfRow(id, row), row);
      if (error !== undefined) errors.set(id, error);
    }
    if (errors.size === 0 && this.refused.size === 0) return rows;
    const refused = new Map(reset ? [] : this.refused);
    for (const id of gone) refused.delete(id);
    for (const [id] of rows) refused.delete(id);
    for (const [id, , row] of rows) {
      const error = errors.get(id);
      if (error === undefined) continue;
      refused.set(id, { operator: this.#operator, id, key: keyOfRow(id, row), error });
      if (!reset) gone.push(id);
    }
    this.refused = refused;
    const left = [...refused.keys()].map((id) => order?.indexOf(id) ?? this.#places.get(id) ?? 0);
    left.sort((one, other) => one - other);
    let before = 0;
    return rows
      .filter(([id]) => !refused.has(id))
      .map(([id, at, row]) => {
        // Both ascend.
        while (before < left.length && (left[before] as number) < at) before++;
        return [id, at - before, row];
      });
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
