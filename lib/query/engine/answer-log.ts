/** The changes of an answer: since it was last taken, by the state of each row before its first change; and as changes of a set. */
import { type Change, foldRow, type Net, unfold, withIdentity } from '../../delta/net-change.ts';
import type { Stored } from '../../meta/kubernetes-object.ts';
import { additions } from '../../store/held-rows.ts';
import { ChunkedOrder } from '../order/chunked-order.ts';
import type { AnswerRows, Arrangement, HeldRow, Machine } from './machine.ts';

/** How an object ended, if an operator knows it. */
export interface Ending<T> {
  readonly last?: Stored<T> | undefined;
  readonly finalStateUnknown?: true | undefined;
}

interface Touched<T> extends Ending<T> {
  readonly before: HeldRow<T> | undefined;
  again?: true;
}

/** Collects the changes of an answer. */
export class AnswerLog<T> {
  enabled = true;
  readonly #rows: Pick<AnswerRows<T>, 'get'>;
  #touched = new Map<string, Touched<T> & { last?: Stored<T>; finalStateUnknown?: true }>();

  constructor(rows: Pick<AnswerRows<T>, 'get'>) {
    this.#rows = rows;
  }

  /** Call before a row changes, with the row as it is. */
  touch(id: string, before: HeldRow<T> | undefined, ending?: Ending<T>): void {
    if (!this.enabled) return;
    let touched = this.#touched.get(id);
    if (touched === undefined) {
      touched = { before };
      this.#touched.set(id, touched);
    }
    if (ending === undefined) return;
    if (ending.last !== undefined) touched.last = ending.last;
    if (ending.finalStateUnknown) touched.finalStateUnknown = true;
  }

  /** Marks a row that is emitted even if it has not changed. */
  repeat(id: string, row: HeldRow<T>): void {
    if (!this.enabled) return;
    this.touch(id, row);
    (this.#touched.get(id) as Touched<T>).again = true;
  }

  take(): Change<T>[] {
    if (this.#touched.size === 0) return [];
    const deletions: Change<T>[] = [];
    const others: Change<T>[] = [];
    for (const [id, { before, last, finalStateUnknown, again }] of this.#touched) {
      const now = this.#rows.get(id);
      if (now !== undefined) {
        const { key, object, of } = now;
        if (before === undefined) others.push(withIdentity({ id, key, object }, of));
        else if (again || before.object !== object) {
          others.push(withIdentity({ id, key, previous: before.object, object }, of));
        }
      } else if (before !== undefined) {
        const { key, object: previous } = before;
        const end = finalStateUnknown && { finalStateUnknown };
        deletions.push({ id, key, previous, last: last ?? previous, ...end });
      }
    }
    this.#touched = new Map();
    return deletions.length === 0 ? others : deletions.concat(others);
  }
}

/** The first set of a machine: its whole answer. */
export function firstOf<Out>(
  machine: Machine<Out>,
  arrangement: Arrangement<Out> | undefined,
): readonly Change<Out>[] | (() => readonly Change<Out>[]) {
  const { order } = arrangement ?? {};
  // When they are read: a view reads the order only.
  return order instanceof ChunkedOrder
    ? () => order.additions()
    : additions(machine.answer.entries());
}

/** Several lists of changes, one after another, as one list. */
export function inOne<Out>(lists: readonly (readonly Change<Out>[])[]): readonly Change<Out>[] {
  const [first = [], second] = lists.filter((list) => list.length > 0);
  if (second === undefined) return first;
  const nets = new Map<string, Net<Out>>();
  for (const change of lists.flat()) foldRow(nets, change);
  return unfold(nets.values());
}
