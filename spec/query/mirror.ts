/** A consumer that holds what it was sent, and objects to any set that breaks the laws of change sets. */
import { isDeepStrictEqual } from 'node:util';
import type { AnyChangeSet, RowOrder } from 'rx-informer';
import type { Observable, Subscription } from 'rxjs';

/** A row as a consumer holds it. */
export interface MirroredRow<T> {
  readonly id: string;
  readonly key: string;
  readonly object: T;
}

/** Throws what differs. A test compares millions of values with it, for which `expect` is too slow. */
export function expectSame(what: string, is: unknown, must: unknown): void {
  if (is === must || isDeepStrictEqual(is, must)) return;
  const shown = (value: unknown) =>
    typeof value === 'object' ? JSON.stringify(value) : String(value);
  throw new Error(`${what} is ${shown(is)}, must be ${shown(must)}`);
}

function expectIdentical(what: string, is: unknown, must: unknown): void {
  if (is === must) return;
  expectSame(what, is, must);
  throw new Error(`${what} is equal to what it must be, but another object`);
}

export class Mirror<T> {
  readonly rows = new Map<string, MirroredRow<T>>();
  readonly sets: AnyChangeSet<T>[] = [];
  order: RowOrder<T> | undefined;
  completed = false;
  error: unknown;
  readonly subscription: Subscription;

  readonly #allowsResets: boolean;
  readonly #afterSet: () => void;
  readonly #idOfKey = new Map<string, string>();
  readonly #kept: { readonly order: RowOrder<T>; readonly rows: readonly T[] }[] = [];

  /**
   * `allowsResets`: whether the stream holds no state, so that it passes a later `reset` on. `afterSet` is called at the
   * end of each notification.
   */
  constructor(
    stream: Observable<AnyChangeSet<T, unknown>>,
    allowsResets = false,
    afterSet: () => void = () => undefined,
  ) {
    this.#allowsResets = allowsResets;
    this.#afterSet = afterSet;
    this.subscription = stream.subscribe({
      next: (set) => {
        try {
          this.#apply(set);
          this.#afterSet();
        } catch (error) {
          this.error ??= error;
        }
      },
      error: (error) => {
        this.error ??= error;
      },
      complete: () => {
        this.completed = true;
      },
    });
  }

  /** The ids in order, or sorted if the stream has no order. Throws what went wrong before. */
  ids(): string[] {
    if (this.error !== undefined) throw this.error;
    const { order } = this;
    if (order === undefined) return [...this.rows.keys()].sort();
    return Array.from({ length: order.size }, (_, at) => order.idAt(at) as string);
  }

  /** An order never changes, so an earlier set still has the order that it came with. */
  expectKeptOrders(): void {
    for (const { order, rows } of this.#kept) {
      // Its rows and the list of their objects are two.
      const [listed, placed] = [order.slice(), rows.map((_, at) => order.at(at))];
      const isKept = (row: T, at: number) => listed[at] === row && placed[at] === row;
      if (listed.length === rows.length && order.size === rows.length && rows.every(isKept))
        continue;
      throw new Error(`an earlier order has changed: ${JSON.stringify({ rows, listed, placed })}`);
    }
  }

  objects(): T[] {
    return this.ids().map((id) => this.rows.get(id)?.object as T);
  }

  #apply(set: AnyChangeSet<T, unknown>): void {
    const { sets, rows } = this;
    // The first set is a reset, and no other.
    if (!this.#allowsResets || sets.length === 0) {
      expectSame('`reset`', set.reset, sets.length === 0);
    }
    if (set.reset) {
      rows.clear();
      this.#idOfKey.clear();
    }
    const seen = new Set<string>();
    let hasOthers = false;
    for (const change of set.changes) {
      const { id, object } = change;
      if (seen.has(id)) throw new Error(`two changes of ${id}`);
      seen.add(id);
      expectIdentical(`\`previous\` of ${id}`, change.previous, rows.get(id)?.object);
      if (object === undefined) {
        if (hasOthers) throw new Error(`the deletion of ${id} is not before the other changes`);
        if (change.previous === undefined) throw new Error(`${id} is deleted without a state`);
      } else hasOthers = true;
      this.#change(id, change.key, object);
    }
    const before = sets.at(-1);
    const order = set.order as RowOrder<T> | undefined;
    const saysSomething =
      set.reset ||
      set.changes.length > 0 ||
      set.synced !== before?.synced ||
      order !== before?.order ||
      set.total !== before?.total ||
      set.origin !== before?.origin;
    expectSame('whether the set says something', saysSomething, true);
    sets.push(set as AnyChangeSet<T>);
    this.order = order;
    if (order === undefined) return;
    if (order !== before?.order) this.#kept.push({ order, rows: [...order.slice()] });
    expectSame('the size of the order', order.size, rows.size);
    if (order !== before?.order || set.changes.length > 0) this.#checkOrder(order);
  }

  /** Takes a row, or its deletion. A stream has at most one live id for each key. */
  #change(id: string, key: string, object: T | undefined): void {
    const { rows } = this;
    const before = rows.get(id);
    if (before !== undefined) {
      if (object !== undefined) expectSame(`the key of ${id}`, key, before.key);
      this.#idOfKey.delete(before.key);
    }
    if (object === undefined) {
      rows.delete(id);
      return;
    }
    rows.set(id, { id, key, object });
    expectSame(`the id of ${key}`, this.#idOfKey.get(key), undefined);
    this.#idOfKey.set(key, id);
  }

  #checkOrder(order: RowOrder<T>): void {
    const { rows } = this;
    const list = order.slice();
    expectSame('the number of listed rows', list.length, order.size);
    for (let at = 0; at < order.size; at++) {
      const id = order.idAt(at) as string;
      const row = rows.get(id);
      expectIdentical(`the row at ${at}`, order.at(at), row?.object);
      expectIdentical(`the listed row at ${at}`, list[at], order.at(at));
      expectSame(`the key at ${at}`, order.keyAt(at), row?.key);
      expectSame(`the position of ${id}`, order.indexOf(id), at);
    }
    expectSame('a row before the first', order.at(-1), undefined);
    expectSame('a row after the last', order.at(order.size), undefined);
    expectSame('the position of an unknown id', order.indexOf('\u{1F50D}?'), -1);
  }
}
