/** The keys of the groups that a row is in. */
import type { Stored } from '../../meta/kubernetes-object.ts';

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
    throw new TypeError(
      `liveGroupBy: a key is ${String(key)}; it must be text, undefined, or an array of texts`,
    );
  }
  return list as readonly string[];
}
