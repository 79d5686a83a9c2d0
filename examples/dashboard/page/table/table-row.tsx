/** One row of the table. It renders again only if its pod, its position or its highlighting has changed. */
import { FlexRender, type Row } from '@tanstack/react-table';
import { memo } from 'react';
import type { PodRow } from '../pods/pod-row.ts';
import type { features } from './columns.tsx';
import classes from './pod-table.module.css';

interface TableRowProps {
  readonly row: Row<typeof features, PodRow>;
  readonly index: number;
  /** Distance from the top of the list, in pixels. */
  readonly top: number;
  readonly active: boolean;
  readonly selected: boolean;
  readonly onSelect: (uid: string) => void;
}

// The table creates new `Row` objects for each window, so the comparison uses `original`.
export const TableRow = memo(
  function TableRow({ row, index, top, active, selected, onSelect }: TableRowProps) {
    return (
      // biome-ignore lint/a11y/useSemanticElements: the grid is made of <div>
      // biome-ignore lint/a11y/useFocusableInteractive: the focus stays on the grid, which names the active row
      // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles Enter
      <div
        id={`pod-${row.id}`}
        role="row"
        className={classes.row}
        aria-rowindex={index + 2}
        aria-selected={selected}
        data-active={active}
        data-uid={row.id}
        style={{ transform: `translateY(${top}px)` }}
        onClick={() => onSelect(row.id)}
      >
        {row.getAllCells().map((cell) => (
          // biome-ignore lint/a11y/useSemanticElements: the grid is made of <div>
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays on the grid
          <div key={cell.id} role="gridcell" className={classes.cell}>
            <FlexRender cell={cell} />
          </div>
        ))}
      </div>
    );
  },
  (before, after) =>
    before.row.original === after.row.original &&
    before.index === after.index &&
    before.top === after.top &&
    before.active === after.active &&
    before.selected === after.selected &&
    before.onSelect === after.onSelect,
);
