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
    const changed = set.reset ? this.#replaceAll(set) : this.#change(set);
    const order = set.order as RowOrder<T> | undefined;
    const total = set.total ?? this.#rows.size;
    let isSameList = changed.length === 0 && order === this.#order && !set.reset;
    const list = this.#list;
    this.#order = order;
    if (!isSameList) this.#list = undefined;
    // A reset may give the same rows in the same order, or in another one.
    if (set.reset && changed.length === 0 && list !== undefined) {
      const now = this.list();
      isSameList = now.length === list.length && now.every((row, at) => row === list[at]);
      if (isSameList) this.#list = list;
    }
    const isSame = isSameList && total === this.total && set.synced === this.synced;
    this.total = total;
    this.synced = set.synced;
    return isSame ? undefined : changed;
  }

  #change({ changes }: AnyChangeSet<T>): string[] {
    const changed: string[] = [];
    for (const { id, object } of changes) {
      if (this.#rows.get(id) === object) continue;
      changed.push(id);
      if (object === undefined) this.#rows.delete(id);
      else this.#rows.set(id, object);
    }
    return changed;
  }

  #replaceAll({ changes }: AnyChangeSet<T>): string[] {
    const before = this.#rows.size === 0 ? undefined : new Map(this.#rows);
    this.#rows.clear();
    for (const { id, object } of changes) if (object !== undefined) this.#rows.set(id, object);
    const ids = before === undefined ? this.#rows.keys() : before.keys();
    const changed: string[] = [];
    for (const id of ids) if (this.#rows.get(id) !== before?.get(id)) changed.push(id);
    if (before === undefined) return changed;
    for (const id of this.#rows.keys()) if (!before.has(id)) changed.push(id);
    return changed;
  }
}
