/** The rows of a view. Lists are made when they are read, because a page reads fewer of them than there are sets. */

import type { Stored } from '../../meta/kubernetes-object.ts';
import type { AnyChangeSet, RowOrder } from '../../store/change-set.ts';
import { sameList } from '../operators/shallow-equal.ts';
import type { RowsOfSets } from './rows-view.ts';
import { NO_ROWS } from './view.ts';

export class ViewRows<T> implements RowsOfSets<T> {
  readonly #isFrozen: boolean;
  /** Rows by id. Absent until it is needed: for rows that are selected, and for changes of rows without an order. */
  #rows: Map<string, Stored<T>> | undefined;
  /** The first set of rows without an order, while there is no map of them. */
  #first: AnyChangeSet<T> | undefined;
  #order: RowOrder<T> | undefined;
  #list: readonly Stored<T>[] | undefined = NO_ROWS;
  /** Whether rows are read by id. */
  #isIndexed = false;
  total = 0;

  constructor(isFrozen: boolean) {
    this.#isFrozen = isFrozen;
  }

  /** Keeps the rows by id from now on, so that `get` and the ids that `apply` returns can be used. */
  index(): void {
    this.#isIndexed = true;
    this.#byId();
  }

  /** Call `index` before. */
  get(id: string): Stored<T> | undefined {
    return this.#rows?.get(id);
  }

  /** The rows in order: the same list until one changes. */
  get list(): readonly Stored<T>[] {
    if (this.#list !== undefined) return this.#list;
    const list = this.#order?.slice() ?? this.#unordered();
    this.#list = this.#isFrozen ? Object.freeze(list) : list;
    return this.#list;
  }

  apply(set: AnyChangeSet<T>, isReset: boolean): readonly string[] | undefined {
    const order = set.order as RowOrder<T> | undefined;
    const changed = isReset ? this.#replaceAll(set, order) : this.#change(set, order);
    const before = this.#list;
    let isSameList = !isReset && changed?.length === 0 && order === this.#order;
    this.#order = order;
    if (!isSameList) this.#list = undefined;
    // A reset may give the same rows in the same order, or in another one.
    if (isReset && before !== undefined) {
      isSameList = sameList(this.list, before);
      if (isSameList) this.#list = before;
    }
    const total = set.total ?? order?.size ?? this.#rows?.size ?? this.#first?.changes.length ?? 0;
    const isSame = isSameList && total === this.total;
    this.total = total;
    return isSame ? undefined : (changed ?? []);
  }

  #unordered(): readonly Stored<T>[] {
    if (this.#rows !== undefined) return [...this.#rows.values()];
    return this.#first?.changes.map(({ object }) => object as Stored<T>) ?? NO_ROWS;
  }

  #byId(): Map<string, Stored<T>> {
    if (this.#rows !== undefined) return this.#rows;
    const rows = new Map<string, Stored<T>>();
    const order = this.#order;
    for (const { id, object } of this.#first?.changes ?? []) rows.set(id, object as Stored<T>);
    for (let at = 0; at < (order?.size ?? 0); at++) {
      rows.set(order?.idAt(at) as string, order?.at(at) as Stored<T>);
    }
    this.#first = undefined;
    this.#rows = rows;
    return rows;
  }

  /** Returns the ids of the rows that have changed; `undefined` if that is not known, because there is no index. */
  #change(set: AnyChangeSet<T>, order: RowOrder<T> | undefined): string[] | undefined {
    const changed: string[] = [];
    const isKept = order === undefined || this.#isIndexed;
    // The order is the only list of the rows, and is lost if another stream is merged with that of the rows.
    const isLost = order === undefined && this.#order !== undefined;
    const rows = isKept && (isLost || set.changes.length > 0) ? this.#byId() : undefined;
    for (const { id, previous, object } of set.changes) {
      if (previous === object || rows?.get(id) === object) continue;
      changed.push(id);
      if (object === undefined) rows?.delete(id);
      else rows?.set(id, object);
    }
    return changed;
  }

  #replaceAll(set: AnyChangeSet<T>, order: RowOrder<T> | undefined): string[] | undefined {
    const before = this.#rows;
    this.#rows = undefined;
    this.#first = order === undefined ? set : undefined;
    if (!this.#isIndexed) return undefined;
    const rows = new Map<string, Stored<T>>();
    for (const { id, object } of set.changes) if (object !== undefined) rows.set(id, object);
    this.#first = undefined;
    this.#rows = rows;
    const changed: string[] = [];
    for (const [id, row] of rows) if (before?.get(id) !== row) changed.push(id);
    for (const id of before?.keys() ?? []) if (!rows.has(id)) changed.push(id);
    return changed;
  }
}
