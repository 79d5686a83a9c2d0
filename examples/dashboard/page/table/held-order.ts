/**
 * The order of a table while the user points at its rows: the values of the rows change, but no row changes its place, so
 * that a click opens the row that the user has seen.
 */
import type { OrderedChangeSet, RowOrder } from 'rx-informer';
import type { Row } from '../kinds/kind.ts';
import type { CompareRows } from '../kinds/order.ts';

/** The id of a row in the streams. */
export const idOf = (row: Row) =>
  row['rootId'] === undefined ? row.uid : `${row['rootId']}/${row.uid}`;

/** The part of an order that the table reads. */
export type ShownOrder = Pick<RowOrder<Row>, 'size' | 'at' | 'idAt' | 'indexOf' | 'slice'>;

/** An order that the table holds. */
export interface HeldRows extends ShownOrder {
  /** How many rows came, left or would have another place now. */
  readonly waiting: number;
  /** Whether a row has left the table. It keeps its place and its last values. */
  isGone(row: Row): boolean;
}

type Followed = Pick<OrderedChangeSet<Row>, 'cause' | 'reset'> & {
  readonly changes: readonly Pick<Changed, 'id' | 'object' | 'previous'>[];
  readonly order?: RowOrder<Row>;
};
type Changed = OrderedChangeSet<Row>['changes'][number];
type Changes = Followed['changes'];

/** The user has opened or closed a branch of a tree: only rows below the roots came or went. */
function isToggle(changes: Changes): boolean {
  const keepsRoots = changes.every(
    ({ previous, object }) =>
      (object ?? previous)?.['depth'] !== 0 || (previous !== undefined && object !== undefined),
  );
  return keepsRoots && changes.length > 0;
}

/** The rows of a tree, with the roots in their former order. */
function regrouped(before: readonly Row[], now: RowOrder<Row>): readonly Row[] {
  const byRoot = new Map<unknown, Row[]>(before.map((row) => [row['rootId'], []]));
  for (const row of now.slice()) byRoot.get(row['rootId'])?.push(row);
  return [...byRoot.values()].flat();
}

/** What has changed since the order is held. The orders after each change share it. */
class Since {
  /** The present row of each id that has changed; `undefined` if it has left the table. */
  readonly now = new Map<string, Row | undefined>();
  /** The rows that came, left or would have another place now. */
  readonly waiting = new Set<string>();
  readonly positions = new Map<string, number>();

  constructor(rows: readonly Row[]) {
    // `forEach` leaves out the places whose rows are not known: a table of a window has only some of them.
    rows.forEach((row, position) => {
      this.positions.set(idOf(row), position);
    });
  }
}

/** An order as it was at one moment, with the values of now. */
export class HeldOrder implements HeldRows {
  readonly #rows: readonly Row[];
  readonly #compare: CompareRows;
  readonly #since: Since;

  constructor(rows: readonly Row[], compare: CompareRows, since = new Since(rows)) {
    this.#rows = rows;
    this.#compare = compare;
    this.#since = since;
  }

  get waiting(): number {
    return this.#since.waiting.size;
  }

  get size(): number {
    return this.#rows.length;
  }

  at(position: number): Row | undefined {
    const row = this.#rows[position];
    return row && this.#present(row);
  }

  idAt(position: number): string | undefined {
    const row = this.#rows[position];
    return row && idOf(row);
  }

  indexOf(id: string): number {
    return this.#since.positions.get(id) ?? -1;
  }

  slice(start?: number, end?: number): readonly Row[] {
    return this.#rows.slice(start, end).map((row) => this.#present(row));
  }

  isGone(row: Row): boolean {
    const { now } = this.#since;
    const id = idOf(row);
    return now.has(id) && now.get(id) === undefined;
  }

  /** The order after a change set; `undefined` if the user has asked for other rows or another order. */
  after({ changes, cause, reset, order }: Followed): HeldOrder | undefined {
    if (reset) return undefined;
    if (cause === 'query') {
      if (!isToggle(changes) || order === undefined) return undefined;
      return new HeldOrder(regrouped(this.#rows, order), this.#compare);
    }
    const { now, waiting } = this.#since;
    for (const { id, object } of changes) {
      const before = this.#rows[this.indexOf(id)];
      if (before !== undefined) now.set(id, object);
      const keepsPlace =
        before === undefined || object === undefined
          ? before === object
          : this.#compare(before, object) === 0;
      if (keepsPlace) waiting.delete(id);
      else waiting.add(id);
    }
    return new HeldOrder(this.#rows, this.#compare, this.#since);
  }

  #present(row: Row): Row {
    return this.#since.now.get(idOf(row)) ?? row;
  }
}
