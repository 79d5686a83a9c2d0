/** The columns of a table: those that the user chose, that the filter asks for, and that fit. */
import type { Column, Kind } from '../kinds/kind.ts';

export interface ShownFor {
  /** Whether the table is filtered to trouble, or the details are open: then the reason of a trouble has a column. */
  readonly isTrouble?: boolean;
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
    return isTrouble ? (inTrouble ?? !optional) : !optional;
  });
  return shown.length === 0 ? kind.columns.slice(0, 1) : shown;
}

/** The width that is left for longer names before further columns get any, in pixels. */
const FOR_NAMES = 90;

const sum = (columns: readonly Column[]) => columns.reduce((all, { width }) => all + width, 0);

/** The columns of a phone: a name and its status, or a reason and its message, have room, and the others are reached by scrolling. */
export function phoneColumns(columns: readonly Column[], width: number): readonly Column[] {
  const [first] = columns;
  const second = columns.find(({ id }) => id === (first?.type === 'name' ? 'status' : 'message'));
  if (first === undefined || second === undefined || first === second) return columns;
  const others = columns.filter((column) => column !== first && column !== second);
  const [named, other] = first.type === 'name' ? [first, second] : [second, first];
  const wide = { ...named, width: width - other.width };
  return first === named ? [wide, second, ...others] : [first, wide, ...others];
}

/** The first column and those with a narrow width, and the others from left to right as long as there is room. */
function greedy(columns: readonly Column[], width: number) {
  const leads = ({ id, narrow }: Column) => id === columns[0]?.id || narrow !== undefined;
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
 * widths if there is no room otherwise. The column by which the table is sorted stays, too.
 */
export function fittingColumns(
  columns: readonly Column[],
  width: number,
  sorted = '',
): readonly Column[] {
  if (sum(columns) <= width) return columns;
  const wide = greedy(columns, width);
  if (wide.left >= 0) return wide.columns;
  const all = columns.map((column) => ({ ...column, width: column.narrow ?? column.width }));
  const { columns: fitting } = greedy(all, width - FOR_NAMES);
  const narrowed = all.filter((column) => column.id === sorted || fitting.includes(column));
  while (sum(narrowed) > width && narrowed.length > 2) {
    narrowed.splice(
      narrowed.findLastIndex(({ id }) => id !== sorted),
      1,
    );
  }
  return narrowed;
}
