/** Divides a large difference into messages, between which those of other queries pass. */
import type { RowDifference } from './row-difference.ts';

type Rows = NonNullable<RowDifference['rows']>;

/** The parts of a difference, each of about `most` characters. Only the last one is without `more`. */
export function partsOf(
  difference: RowDifference,
  most: number = Number.POSITIVE_INFINITY,
): RowDifference[] {
  const { rows = [], reset, gone, ...last } = difference;
  if (most === Number.POSITIVE_INFINITY) return [difference];
  const groups: { readonly gone: string[]; readonly rows: Rows[number][] }[] = [];
  let left = 0;
  const room = (length: number) => {
    const group = groups.at(-1);
    left -= length;
    if (group !== undefined && left >= 0) return group;
    left = most - length;
    const begun = { gone: [], rows: [] };
    groups.push(begun);
    return begun;
  };
  for (const id of gone ?? []) room(id.length + 3).gone.push(id);
  for (const row of rows) room(JSON.stringify(row).length).rows.push(row);
  const { total, synced } = last;
  const parts = groups.map((group, at) => ({
    ...(at === groups.length - 1 ? last : { more: true as const, total, synced }),
    ...(group.gone.length > 0 && { gone: group.gone }),
    ...(group.rows.length > 0 && { rows: group.rows }),
  }));
  const [first = last, ...others] = parts;
  return [{ ...first, ...(reset && { reset }) }, ...others];
}
