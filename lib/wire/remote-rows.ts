/** The rows of a query as a reader has them, brought up to date by differences. */
import type { RowDifference } from './row-difference.ts';

type Row = unknown;
type Parts = Record<string, unknown>;

function hasParts(value: unknown): value is Parts {
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

/**
 * Puts the equal parts of the former row into the received one, a copy that nobody else has, and returns the former row if
 * all is equal. `reuseUnchanged` does the same for objects that may not be changed.
 */
function withFormerParts(former: unknown, received: unknown): unknown {
  if (!hasParts(former) || !hasParts(received)) return received;
  const names = Object.keys(received);
  let isEqual =
    names.length === Object.keys(former).length &&
    Array.isArray(former) === Array.isArray(received);
  for (const name of names) {
    const value = received[name];
    // An assignment to this name would change the prototype.
    const isKnown = name !== '__proto__' && Object.hasOwn(former, name);
    const part = isKnown ? withFormerParts(former[name], value) : value;
    if (!isKnown || !Object.is(part, former[name])) isEqual = false;
    else if (part !== value) received[name] = part;
  }
  return isEqual ? former : received;
}

export class RemoteRows {
  #rows = new Map<string, Row>();
  /** The ids of the rows, in their order. */
  ids: readonly string[] = [];
  #list: readonly Row[] = [];
  total = 0;
  synced = false;

  get list(): readonly Row[] {
    return this.#list;
  }

  get(id: string): Row | undefined {
    return this.#rows.get(id);
  }

  /** Forgets all rows, and returns their ids. */
  clear(): readonly string[] {
    return this.apply({ reset: true, total: 0, synced: false });
  }

  /** Takes the place of these rows. Equal ones stay the same objects. Returns the ids of the rows that have changed. */
  replace(other: RemoteRows): readonly string[] {
    const { total, synced } = other;
    const rows = other.ids.map((id, at) => [id, at, other.get(id)] as const);
    return this.apply({ reset: true, rows, total, synced });
  }

  /** Takes a difference, and returns the ids of the rows that have changed. */
  apply({ reset, gone = [], rows = [], total, synced }: RowDifference): readonly string[] {
    this.total = total;
    this.synced = synced;
    const before = this.#rows;
    if (!reset && gone.length === 0 && rows.length === 0) return [];
    const now = reset ? new Map<string, Row>() : before;
    const changed: string[] = [];
    const moved = new Set<string>(gone);
    for (const [id, , row] of rows) {
      moved.add(id);
      // Equal parts of a row are the same objects as before, also after another worker has answered.
      const kept = withFormerParts(before.get(id), row);
      if (kept !== before.get(id) || !before.has(id)) changed.push(id);
      now.set(id, kept);
    }
    for (const id of gone) now.delete(id);
    for (const id of reset ? before.keys() : gone) if (!now.has(id)) changed.push(id);
    this.#rows = now;
    this.#arrange(reset ? [] : this.ids.filter((id) => !moved.has(id)), rows);
    return changed;
  }

  /** Puts the changed rows at their positions between the others, whose order is as before. */
  #arrange(others: readonly string[], rows: NonNullable<RowDifference['rows']>): void {
    const ids: string[] = [];
    let other = 0;
    for (const [id, position] of rows) {
      while (ids.length < position && other < others.length) ids.push(others[other++] as string);
      ids.push(id);
    }
    while (other < others.length) ids.push(others[other++] as string);
    this.ids = ids;
    const list = ids.map((id) => this.#rows.get(id));
    const isSame =
      list.length === this.#list.length && list.every((row, at) => row === this.#list[at]);
    if (!isSame) this.#list = Object.freeze(list);
  }
}
