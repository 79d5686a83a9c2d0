/** Rows as a reader holds them, and the changes between such rows and the sets of a stream. */
import { type Change, type RowIdentity, withIdentity } from '../delta/net-change.ts';
import type { Stored } from '../meta/kubernetes-object.ts';

/** A row as it is held. */
export interface HeldRow<T> {
  readonly key: string;
  readonly object: Stored<T>;
  /** As that of a change. */
  readonly of?: RowIdentity | undefined;
}

/** Rows by id. */
export type Rows<T> = Map<string, HeldRow<T>>;

/** Brings rows up to date, and returns them. */
export function applied<T>(rows: Rows<T>, changes: readonly Change<T>[]): Rows<T> {
  for (const { id, key, object, of } of changes) {
    if (object === undefined) rows.delete(id);
    else rows.set(id, { key, object, of });
  }
  return rows;
}

/** The changes that add these rows. */
export function additions<T>(rows: Iterable<readonly [id: string, row: HeldRow<T>]>): Change<T>[] {
  return Array.from(rows, ([id, { key, object, of }]) => withIdentity({ id, key, object }, of));
}

/** The rows that a reset does not name. */
export function unnamed<Row>(
  rows: ReadonlyMap<string, Row>,
  changes: readonly Change<unknown>[],
): (readonly [id: string, row: Row])[] {
  const named = new Set(changes.map(({ id }) => id));
  return [...rows].filter(([id]) => !named.has(id));
}

/**
 * The difference that a reset with these additions makes to the rows: deletions first. `ending` says more of the deletions.
 */
export function difference<T>(
  rows: ReadonlyMap<string, HeldRow<T>>,
  added: readonly Change<T>[],
  ending?: Pick<Change<T>, 'finalStateUnknown' | 'left'>,
): readonly Change<T>[] {
  if (rows.size === 0) return added;
  const changes = unnamed(rows, added).map(
    ([id, { key, object }]): Change<T> => ({ id, key, previous: object, last: object, ...ending }),
  );
  for (const change of added) {
    const previous = rows.get(change.id)?.object;
    if (previous === undefined) changes.push(change);
    else if (previous !== change.object) changes.push({ ...change, previous });
  }
  return changes;
}
