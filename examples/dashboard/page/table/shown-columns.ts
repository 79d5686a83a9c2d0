/** The columns of a table: those that the user chose, that the filter asks for, and that fit. */
import type { Column, Kind } from '../kinds/kind.ts';

/**
 * The columns that are shown: those of the URL, in the order of the kind, or those that are not optional. While the table
 * is filtered to trouble, the reason of the trouble is one of them.
 */
export function shownColumns(
  kind: Kind,
  chosen: readonly string[] | undefined,
  isTrouble = false,
): readonly Column[] {
  const shown = kind.columns.filter(({ id, optional, inTrouble }) =>
    chosen === undefined ? !optional || (isTrouble && inTrouble) : chosen.includes(id),
  );
  return shown.length === 0 ? kind.columns.slice(0, 1) : shown;
}

/** The columns that fit into a width, without those for which no room is left. The first two are always shown. */
export function fittingColumns(columns: readonly Column[], width: number): readonly Column[] {
  let left = width;
  return columns.filter((column, at) => {
    const fits = at < 2 || column.width <= left;
    if (fits) left -= column.width;
    return fits;
  });
}
