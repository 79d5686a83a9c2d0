/** The changes of an answer since it was last taken: the state of each row before its first change. */
import type { Change } from '../../delta/net-change.ts';
import type { Stored } from '../../meta/kubernetes-object.ts';
import type { AnswerRows, HeldRow } from './machine.ts';

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
        const { key, object } = now;
        if (before === undefined) others.push({ id, key, object });
        else if (again || before.object !== object) {
          others.push({ id, key, previous: before.object, object });
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
