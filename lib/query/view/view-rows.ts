/** The rows of a view. Lists are made when they are read, because a page reads fewer of them than there are sets. */
import type { Stored } from '../../meta/stored.ts';
import type { AnyChangeSet, RowOrder } from '../../store/change-set.ts';

const NO_ROWS: readonly never[] = /* @__PURE__ */ Object.freeze([]);

export class ViewRows<T> {
  readonly #rows = new Map<string, Stored<T>>();
  readonly #isFrozen: boolean;
  #order: RowOrder<T> | undefined;
  #list: readonly Stored<T>[] | undefined = NO_ROWS;
  total = 0;
  synced = false;

  constructor(isFrozen: boolean) {
    this.#isFrozen = isFrozen;
  }

  get(id: string): Stored<T> | undefined {
    return this.#rows.get(id);
  }

  /** The rows in order: the same list until one changes. */
  list(): readonly Stored<T>[] {
    if (this.#list !== undefined) return this.#list;
    const list = this.#order?.slice() ?? [...this.#rows.values()];
    this.#list = this.#isFrozen ? Object.freeze(list) : list;
    return this.#list;
  }

  /** Takes a set, and returns the ids of the rows that have changed; `undefined` if nothing that is shown has. */
  apply(set: AnyChangeSet<T>): readonly string[] | undefined {
    const before = new Map<string, T | undefined>();
    if (set.reset) {
      for (const [id, object] of this.#rows) before.set(id, object);
      this.#rows.clear();
    }
    for (const { id, object } of set.changes) {
      if (!before.has(id)) before.set(id, this.#rows.get(id));
      if (object === undefined) this.#rows.delete(id);
      else this.#rows.set(id, object);
    }
    const changed: string[] = [];
    for (const [id, object] of before) if (this.#rows.get(id) !== object) changed.push(id);
    const order = set.order as RowOrder<T> | undefined;
    const total = set.total ?? this.#rows.size;
    // A reset may give the same rows in another order.
    const isSameList =
      changed.length === 0 && order === this.#order && (!set.reset || before.size === 0);
    const isSame = isSameList && total === this.total && set.synced === this.synced;
    if (!isSameList) this.#list = undefined;
    this.#order = order;
    this.total = total;
    this.synced = set.synced;
    return isSame ? undefined : changed;
  }
}
