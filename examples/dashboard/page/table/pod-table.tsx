/**
 * The table. TanStack Virtual finds the range of rows on screen, and the query gives TanStack Table only these rows, so
 * the cost depends on the range and not on the list. The query filters and sorts.
 */
import { type SortingState, useTable } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useMemo, useRef } from 'react';
import { podQueries } from '../cluster/live-pods.ts';
import { useValue, useView } from '../cluster/use-live.ts';
import type { SortKey } from '../pods/order.ts';
import { ColumnHeader } from './column-header.tsx';
import { columns, features } from './columns.tsx';
import classes from './pod-table.module.css';
import { TableRow } from './table-row.tsx';
import { TableState } from './table-state.tsx';
import { useRowKeys } from './use-row-keys.ts';

/** The height of a row, in pixels; the style sheet repeats it. */
const ROW_HEIGHT = 34;

interface PodTableProps {
  readonly selected: string | undefined;
  readonly onSelect: (uid: string) => void;
}

export function PodTable({ selected, onSelect }: PodTableProps) {
  const { table: view, sort$ } = podQueries;
  const { rows, total, synced } = useView(view, (snapshot) => snapshot);
  const sort = useValue(sort$);
  const { offset } = useValue(podQueries.range$);
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: total,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  });
  const items = virtualizer.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? first - 1;
  // Before the browser paints, so that no row is missing while the user scrolls.
  useLayoutEffect(() => {
    podQueries.range$.next({ offset: first, limit: last + 1 - first });
  }, [first, last]);
  const sorting = useMemo<SortingState>(() => [{ id: sort.key, desc: sort.descending }], [sort]);
  const table = useTable({
    features,
    columns,
    data: rows,
    getRowId: (row) => row.uid,
    manualSorting: true,
    enableSortingRemoval: false,
    enableMultiSort: false,
    state: { sorting },
    onSortingChange: (update) => {
      const [next] = typeof update === 'function' ? update(sorting) : update;
      if (next !== undefined) sort$.next({ key: next.id as SortKey, descending: next.desc });
    },
  });
  const keys = useRowKeys({ rows, virtualizer, onSelect });
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows are placed by transforms, which a <table> does not allow
    <div
      ref={scroller}
      className={classes.scroller}
      role="grid"
      aria-label="Pods"
      aria-rowcount={total + 1}
      aria-colcount={columns.length}
      aria-activedescendant={keys.activeId}
      aria-busy={!synced}
      tabIndex={0}
      onKeyDown={keys.onKeyDown}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: see above */}
      <div className={classes.head} role="rowgroup">
        {table.getHeaderGroups().map((group) => (
          // biome-ignore lint/a11y/useSemanticElements: see above
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays on the grid
          <div key={group.id} className={classes.row} role="row" aria-rowindex={1}>
            {group.headers.map((header) => (
              <ColumnHeader key={header.id} header={header} sorted={header.column.getIsSorted()} />
            ))}
          </div>
        ))}
      </div>
      {total === 0 ? (
        <TableState />
      ) : (
        // biome-ignore lint/a11y/useSemanticElements: see above
        <div
          className={classes.body}
          role="rowgroup"
          style={{ height: virtualizer.getTotalSize() }}
        >
          {table.getRowModel().rows.map((row, at) => (
            <TableRow
              key={row.id}
              row={row}
              index={offset + at}
              top={(offset + at) * ROW_HEIGHT}
              active={row.id === keys.active}
              selected={row.id === selected}
              onSelect={onSelect}
            />
          ))}
        </div>
      )}
    </div>
  );
}
