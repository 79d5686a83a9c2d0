/** `select` of a query: its types, its one form, and the projection. */
import { isFields } from '../../meta/json-fields.ts';
import type { Stored } from '../../meta/kubernetes-object.ts';
import type { QueryPath, ValueAt } from '../../meta/typed-path.ts';
import { ownGuard } from '../../store/mutation-guard.ts';
import { checkedPath } from './condition.ts';
import { shownBy } from './path.ts';
import { checkedKey, checkField, checkFields, refused } from './refused.ts';

/** The columns of a row, each with the path of its value. */
export type Columns<T> = Readonly<Record<string, QueryPath<T>>>;

/**
 * A function that makes rows; `undefined` keeps an object out, which `limit`, `offset` and `total` do not count. It is called for all objects
 * of the query, once per change. Queries with equal keys are equal, whatever they make.
 */
export interface KeyedProjection<T, Row> {
  readonly key: string;
  readonly project: (object: Stored<T>, nowMs: number) => Row | undefined;
}

/** The row that a query makes of each object: columns, or the result of a function. */
export type Select<T> = Columns<T> | KeyedProjection<T, unknown>;

/** The rows of a query. */
export type RowOf<T, S> = [Select<T> | undefined] extends [S] // nothing was inferred
  ? Stored<T>
  : RowBy<T, S>;

type RowBy<T, S> = S extends { readonly project: (...given: never[]) => infer Row }
  ? Exclude<Row, undefined>
  : S extends Readonly<Record<string, string>>
    ? { readonly [C in keyof S]: ValueAt<Stored<T>, S[C]> }
    : Stored<T>;

/** A valid selection in its one form. */
export type QuerySelection =
  | { readonly key: string; readonly project: (object: never, nowMs: number) => unknown }
  | Readonly<Record<string, string>>;

export function isKeyed(
  selection: QuerySelection,
): selection is { readonly key: string; readonly project: (object: never) => unknown } {
  return typeof selection['project'] === 'function';
}

/** Validates a selection. Throws a `TypeError` that names the field. */
export function normalSelection(given: unknown): QuerySelection {
  checkField(isFields(given), 'select', given, '{ column: path } or { key, project }');
  const { key, project } = given;
  const names = Object.keys(given);
  if (typeof project === 'function') {
    checkFields('select', given, ['key', 'project']);
    return { key: checkedKey('select', key), project: project as (object: never) => unknown };
  }
  if (names.length === 0) refused('select', 'has no columns; leave it out');
  // JSON keeps the key of a function only.
  if (names.length === 1 && key !== undefined) {
    refused('select.project', 'is missing; a row cannot have one column key');
  }
  return Object.fromEntries(
    names.map((name) => [name, checkedPath(`select.${name}`, given[name])]),
  );
}

/** The projection of a selection. */
export function projectionOf(
  selection: QuerySelection,
): (object: unknown, nowMs: number) => unknown {
  if (isKeyed(selection)) return selection.project as (object: unknown) => unknown;
  const columns = Object.entries(selection as Readonly<Record<string, string>>).map(
    ([name, path]) => [name, shownBy(path)] as const,
  );
  const guarded = ownGuard();
  // Any list was made for this row.
  const cell = (value: unknown) => (Array.isArray(value) ? guarded(value) : value);
  return (object) =>
    guarded(Object.fromEntries(columns.map(([name, shownIn]) => [name, cell(shownIn(object))])));
}
