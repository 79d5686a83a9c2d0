/** A consumer that holds what it was sent, and objects to any set that breaks the laws of change sets. */
import type { AnyChangeSet, RowOrder } from 'rx-informer';
import type { Observable, Subscription } from 'rxjs';
import { expect } from 'vitest';

/** A row as a consumer holds it. */
export interface MirroredRow<T> {
  readonly id: string;
  readonly key: string;
  readonly object: T;
}

export class Mirror<T> {
  readonly rows = new Map<string, MirroredRow<T>>();
  readonly sets: AnyChangeSet<T>[] = [];
  order: RowOrder<T> | undefined;
  completed = false;
  error: unknown;
  readonly subscription: Subscription;

  readonly #allowsResets: boolean;
  readonly #kept: { readonly order: RowOrder<T>; readonly rows: readonly T[] }[] = [];

  /** `allowsResets`: whether the stream holds no state, so that it passes a later `reset` on. */
  constructor(stream: Observable<AnyChangeSet<T, unknown>>, allowsResets = false) {
    this.#allowsResets = allowsResets;
    this.subscription = stream.subscribe({
      next: (set) => {
        try {
          this.#apply(set);
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
    if (this.order === undefined) return [...this.rows.keys()].sort();
    const { size } = this.order;
    return Array.from({ length: size }, (_, at) => this.order?.idAt(at) as string);
  }

  /** An order never changes, so an earlier set still has the order that it came with. */
  expectKeptOrders(): void {
    for (const { order, rows } of this.#kept) {
      expect([order.size, order.slice()]).toEqual([rows.length, rows]);
    }
  }

  objects(): T[] {
    return this.ids().map((id) => this.rows.get(id)?.object as T);
  }

  #apply(set: AnyChangeSet<T, unknown>): void {
    const { sets, rows } = this;
    // The first set is a reset, and no other.
    if (!this.#allowsResets || sets.length === 0) expect(set.reset).toBe(sets.length === 0);
    if (set.reset) rows.clear();
    const seen = new Set<string>();
    let hasOthers = false;
    for (const { id, key, previous, object } of set.changes) {
      expect(seen.has(id)).toBe(false);
      seen.add(id);
      expect(rows.get(id)?.object).toBe(previous);
      if (object === undefined) {
        expect(hasOthers).toBe(false);
        expect(previous).toBeDefined();
        rows.delete(id);
        continue;
      }
      hasOthers = true;
      if (previous !== undefined) expect(rows.get(id)?.key).toBe(key);
      rows.set(id, { id, key, object });
    }
    // A stream has at most one live id for each key.
    const keys = new Set([...rows.values()].map(({ key }) => key));
    expect(keys.size).toBe(rows.size);
    const before = sets.at(-1);
    const order = set.order as RowOrder<T> | undefined;
    const saysSomething =
      set.reset ||
      set.changes.length > 0 ||
      set.synced !== before?.synced ||
      order !== before?.order ||
      set.total !== before?.total;
    expect(saysSomething).toBe(true);
    sets.push(set as AnyChangeSet<T>);
    this.order = order;
    if (order === undefined) return;
    if (order !== before?.order) this.#kept.push({ order, rows: [...order.slice()] });
    expect(order.size).toBe(rows.size);
    const list = order.slice();
    for (let at = 0; at < order.size; at++) {
      const id = order.idAt(at) as string;
      expect(order.at(at)).toBe(rows.get(id)?.object);
      expect(list[at]).toBe(order.at(at));
      expect(order.keyAt(at)).toBe(rows.get(id)?.key);
      expect(order.indexOf(id)).toBe(at);
    }
    expect([order.at(-1), order.at(order.size), order.indexOf('?')]).toEqual([
      undefined,
      undefined,
      -1,
    ]);
  }
}
