/** One row of the table. It renders again only if its object, its position or its highlighting has changed. */
import { type ColumnDef, FlexRender, type Row as TanStackRow } from '@tanstack/react-table';
import { memo } from 'react';
import type { Row } from '../kinds/kind.ts';
import type { features } from './cells.tsx';
import classes from './table.module.css';

interface TableRowProps {
  readonly row: TanStackRow<typeof features, Row>;
  readonly columns: readonly ColumnDef<typeof features, Row>[];
  readonly index: number;
  /** Distance from the top of the list, in pixels. */
  readonly top: number;
  readonly active: boolean;
  readonly selected: boolean;
  /** Whether the row has left the table and only keeps its place while the order is held. */
  readonly gone: boolean;
  readonly marked: boolean;
  readonly onSelect: (row: Row) => void;
  /** Marks the row; `undefined` if rows cannot be marked. */
  readonly onMark: ((row: Row) => void) | undefined;
}

/** The place of a row in a tree, for screen readers. */
function placeOf({ depth, branch, position }: Row): object {
  if (depth === undefined) return {};
  const [at, size] = String(position).split('/').map(Number);
  return {
    'aria-level': Number(depth) + 1,
    'aria-posinset': at,
    'aria-setsize': depth === 0 ? -1 : size,
    ...(branch === '' ? {} : { 'aria-expanded': branch === 'open' }),
  };
}

const fields = [
  ...(['columns', 'index', 'top', 'active', 'selected'] as const),
  ...(['gone', 'marked', 'onSelect', 'onMark'] as const),
];

// The table creates new `Row` objects for each window, so the comparison uses `original`.
export const TableRow = memo(
  function TableRow(props: TableRowProps) {
    const { row, index, top, active, selected, gone, marked, onSelect, onMark } = props;
    return (
      // biome-ignore lint/a11y/useSemanticElements: the grid is made of <div>
      // biome-ignore lint/a11y/useFocusableInteractive: the focus stays on the grid, which names the active row
      // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles Enter
      <div
        id={`row-${row.id}`}
        role="row"
        className={classes.row}
        aria-rowindex={index + 2}
        aria-selected={selected || marked}
        data-marked={marked}
        {...placeOf(row.original)}
        data-active={active}
        data-gone={gone}
        title={gone ? 'This row is no longer in the table' : undefined}
        data-uid={row.id}
        style={{ transform: `translateY(${top}px)` }}
        onClick={({ ctrlKey, metaKey }) =>
          (ctrlKey || metaKey ? (onMark ?? onSelect) : onSelect)(row.original)
        }
      >
        {row.getAllCells().map((cell) => (
          // biome-ignore lint/a11y/useSemanticElements: the grid is made of <div>
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays on the grid
          <div key={cell.id} role="gridcell" className={classes.cell} data-column={cell.column.id}>
            <FlexRender cell={cell} />
          </div>
        ))}
        {/* Space does the same for the keyboard, and the row says whether it is selected. */}
        {onMark !== undefined && (
          <span
            className={classes.mark}
            aria-hidden="true"
            title="Mark the row"
            onClick={(event) => {
              event.stopPropagation();
              onMark(row.original);
            }}
          />
        )}
      </div>
    );
  },
  (before, after) =>
    before.row.original === after.row.original &&
    fields.every((field) => before[field] === after[field]),
);
