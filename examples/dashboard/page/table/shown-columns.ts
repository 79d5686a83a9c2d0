/** The columns of a table: those that the user chose, that the filter asks for, and that fit. */
import type { Column, Kind } from '../kinds/kind.ts';

/** What decides which columns are shown. */
export interface ShownFor {
  /** Whether the table is filtered to trouble, or the details are open: then the reason of a trouble has a column. */
  readonly isTrouble?: boolean;
  /** Whether the cluster says what is used. */
  readonly isMetered?: boolean;
}

/** The columns that are shown: those of the URL, in the order of the kind, or those that are not optional. */
export function shownColumns(
  kind: Kind,
  chosen: readonly string[] | undefined,
  { isTrouble = false, isMetered = false }: ShownFor = {},
): readonly Column[] {
  const shown = kind.columns.filter(({ id, optional, inTrouble, isUsage }) => {
    if (isUsage && !isMetered) return false;
    if (chosen !== undefined) return chosen.includes(id);
    return !optional || (isTrouble && inTrouble);
  });
  return shown.length === 0 ? kind.columns.slice(0, 1) : shown;
}

const sum = (columns: readonly Column[]) => columns.reduce((all, { width }) => all + width, 0);

const isLeading = (column: Column, all: readonly Column[]) =>
  column === all[0] || column.narrow !== undefined;

/** The first column and those with a narrow width, and the others from left to right as long as there is room. */
function greedy(columns: readonly Column[], width: number) {
  const leads = (column: Column) => isLeading(column, columns);
  let left = width - sum(columns.filter(leads));
  const others = columns.filter((column) => {
    if (leads(column)) return false;
    const fits = column.width <= left;
    if (fits) left -= column.width;
    return fits;
  });
  return { columns: columns.filter((each) => leads(each) || others.includes(each)), left };
}

/**
 * The columns that fit into a width. The first one and those with a narrow width come before all others, and get their narrow
 * widths if there is no room otherwise.
 */
export function fittingColumns(columns: readonly Column[], width: number): readonly Column[] {
  if (sum(columns) <= width) return columns;
  const wide = greedy(columns, width);
  if (wide.left >= 0) return wide.columns;
  return columns
    .filter((column) => isLeading(column, columns))
    .map((column) => ({ ...column, width: column.narrow ?? column.width }));
}
