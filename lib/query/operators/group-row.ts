/**
 * The groups of a row: the keys of the groups that it is in, and the row of a group, made of the results of its
 * aggregates.
 */

import { refusal } from '../../checks/checked-option.ts';
import type { Stored } from '../../meta/kubernetes-object.ts';
import type { HeldRow } from '../engine/machine.ts';
import { shallowEqual } from './shallow-equal.ts';

/** A function from a row to the key of its group, or the keys of its groups. */
export type GroupKey<T> = (
  object: Stored<T>,
  nowMs: number,
) => string | undefined | readonly string[];

/** The different keys of a row in several groups. */
export function checkedKeys(keys: readonly string[]): readonly string[] {
  const list = Array.isArray(keys) ? [...new Set(keys)] : [keys];
  for (const key of list) {
    if (typeof key === 'string') continue;
    throw refusal('liveGroupBy: a key', key, 'text, undefined, or an array of texts');
  }
  return list as readonly string[];
}

/** A row of a group before its type is known. */
export type AnyGroupRow = Readonly<Record<string, unknown>>;

/** The row with these results, which is the one before if no result differs. */
export function groupRow(
  key: string,
  names: readonly string[],
  results: readonly unknown[],
  before: HeldRow<AnyGroupRow> | undefined,
): HeldRow<AnyGroupRow> {
  const object: Record<string, unknown> = { key };
  let isSame = before !== undefined && Object.keys(before.object).length === results.length + 1;
  for (const [at, name] of names.entries()) {
    const had = before !== undefined && Object.hasOwn(before.object, name);
    const isEqual = had && sameResult(before.object[name], results[at]);
    object[name] = isEqual ? before.object[name] : results[at];
    isSame &&= isEqual;
  }
  return isSame && before !== undefined ? before : { key, object };
}

/** Compares two sets by their elements, and anything else like {@link shallowEqual}. */
function sameResult(one: unknown, other: unknown): boolean {
  if (!(one instanceof Set && other instanceof Set)) return shallowEqual(one, other);
  if (one.size !== other.size) return false;
  for (const each of one) if (!other.has(each)) return false;
  return true;
}
