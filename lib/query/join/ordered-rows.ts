/**
 * Rows in the order of their ids, as a list that stays the same array until a row changes. The list is a copy, because
 * whoever has it may sort or reverse it.
 */

const NONE: readonly never[] = /* @__PURE__ */ Object.freeze([]);

/** The position of an id, or the position at which it would be inserted. Ids are ordered by code units. */
function search(ids: readonly string[], id: string): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] as string) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A row that was put, or `undefined` for one that left. */
type RowChange<R> = readonly [id: string, row: R | undefined];

export class OrderedRows<R> {
  #ids: readonly string[] = NONE;
  #rows: readonly R[] = NONE;
  /** The copy that was handed out, until a row changes. */
  #list: readonly R[] | undefined;
  /** Whether a row was replaced in place since the rows were read. */
  #isReplaced = false;
  /** Changes since the list was made; the last one of an id counts. */
  #changes: RowChange<R>[] = [];
  #size = 0;

  /** The number of rows. */
  get size(): number {
    return this.#size;
  }

  /** Whether a row was put or has left since the rows were read. */
  get isChanged(): boolean {
    return this.#isReplaced || this.#changes.length > 0;
  }

  /** Adds a row that is not in the list. */
  add(id: string, row: R): void {
    this.#size++;
    this.#note([id, row]);
  }

  /** Puts another row in the place of one that is in the list. */
  replace(id: string, before: R, row: R): void {
    const at = this.#changes.length === 0 ? this.#placeOf(id, before) : -1;
    if (at === -1) return this.#note([id, row]);
    if (this.#rows[at] === row) return;
    this.#list = undefined;
    this.#isReplaced = true;
    (this.#rows as R[])[at] = row;
  }

  /** Removes a row that is in the list. */
  remove(id: string): void {
    this.#size--;
    this.#note([id, undefined]);
  }

  /** The ids in order. */
  ids(): readonly string[] {
    this.#settle();
    this.#isReplaced = false;
    return this.#ids;
  }

  /** The rows in the order of their ids, to be read before the next change, and not to be passed on. */
  rows(): readonly R[] {
    this.#settle();
    this.#isReplaced = false;
    return this.#rows;
  }

  /** The rows in the order of their ids, as a list to pass on. */
  list(): readonly R[] {
    const rows = this.rows();
    this.#list ??= rows.length === 0 ? NONE : rows.slice();
    return this.#list;
  }

  /** The position of a row, or -1. */
  #placeOf(id: string, row: R): number {
    // Comparing pointers is faster than comparing a few ids, unless two ids have the same row.
    const at = this.#rows.indexOf(row);
    if (at !== -1 && this.#ids[at] === id) return at;
    const place = search(this.#ids, id);
    return this.#ids[place] === id ? place : -1;
  }

  #note(change: RowChange<R>): void {
    this.#changes.push(change);
    // Otherwise the changes of a list that nobody reads would outgrow it.
    if (this.#changes.length > 2 * this.#size + 64) this.#settle();
  }

  #settle(): void {
    const changes = this.#changes;
    const [first] = changes;
    if (first === undefined) return;
    this.#changes = [];
    if (changes.length === 1) this.#settleOne(first);
    else this.#settleMany(new Map(changes));
  }

  #settleOne([id, row]: RowChange<R>): void {
    const ids = this.#ids as string[];
    const rows = this.#rows as R[];
    const at = search(ids, id);
    const isListed = ids[at] === id;
    if (row === (isListed ? rows[at] : undefined)) return;
    this.#list = undefined;
    if (ids.length === 0) {
      this.#ids = [id];
      this.#rows = [row as R];
    } else if (row === undefined) {
      ids.splice(at, 1);
      rows.splice(at, 1);
    } else if (isListed) {
      rows[at] = row;
    } else {
      ids.splice(at, 0, id);
      rows.splice(at, 0, row);
    }
  }

  #settleMany(changes: ReadonlyMap<string, R | undefined>): void {
    const ids: string[] = [];
    const rows: R[] = [];
    let from = 0;
    let isSame = true;
    const copyTo = (end: number) => {
      for (; from < end; from++) {
        ids.push(this.#ids[from] as string);
        rows.push(this.#rows[from] as R);
      }
    };
    for (const id of [...changes.keys()].sort()) {
      const row = changes.get(id);
      const at = search(this.#ids, id);
      copyTo(at);
      const isListed = this.#ids[at] === id;
      if (row !== (isListed ? this.#rows[at] : undefined)) isSame = false;
      if (isListed) from = at + 1;
      if (row === undefined) continue;
      ids.push(id);
      rows.push(row);
    }
    if (isSame) return;
    copyTo(this.#ids.length);
    this.#list = undefined;
    this.#ids = ids;
    this.#rows = rows;
  }
}
