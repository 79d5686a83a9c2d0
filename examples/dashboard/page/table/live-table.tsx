/**
 * The table. TanStack Virtual finds the range of rows on screen, and the query gives TanStack Table only these rows, so
 * the cost depends on the range and not on the list. The query filters and sorts.
 */
import { useElementSize } from '@mantine/hooks';
import { type SortingState, useTable } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useView } from 'rx-informer/react/worker';
import { counted } from '../../shared/words.ts';
import { clearMarks, isMarkable, marks$, toggleMark } from '../actions/asked.ts';
import { go } from '../cluster/page-state.ts';
import { usePage, useValue } from '../cluster/use-live.ts';
import type { Row } from '../kinds/kind.ts';
import { nextTable } from '../layout/focus.ts';
import { columnsOf, features } from './cells.tsx';
import { useIsMetered, useIsTrouble } from './column-choice.tsx';
import { ColumnHeader } from './column-header.tsx';
import { ColumnWidths, type Widths } from './short-name.tsx';
import { fittingColumns, phoneColumns, shownColumns } from './shown-columns.ts';
import classes from './table.module.css';
import { TableRow } from './table-row.tsx';
import { TableState } from './table-state.tsx';
import { useHold } from './use-hold.ts';
import { useRowKeys } from './use-row-keys.ts';
import { useTableQueries } from './use-table.tsx';

/** The height of a row, in pixels: on a phone that of a finger. */
const ROW_HEIGHT = matchMedia('(max-width: 36em)').matches ? 44 : 34;

/** The width of a table, in pixels, on which there is room for the most important columns. */
const WIDE = 720;

/** The greatest width of the table on a phone. */
const PHONE = 480;

const onSelect = ({ kind: ofRow, uid, namespace, name }: Row, kind: string) =>
  go({ object: { kind: String(ofRow ?? kind), uid, namespace, name } });

export function LiveTable({ isReadOnly }: { readonly isReadOnly: boolean }) {
  const { kind, queries } = useTableQueries();
  const marks = useValue(marks$);
  const onMark = isReadOnly || !isMarkable(kind.id) ? undefined : toggleMark;
  useEffect(() => clearMarks, []);
  const page = usePage();
  const live = useView(queries.table);
  const isListed = useValue(queries.isListed$);
  const range = useValue(queries.range$);
  const held = useValue(queries.held$);
  const order = useValue(queries.order$);
  const total = held?.size ?? live.total;
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
  // Before the browser paints, so that no row is missing while the user scrolls. While no row is known, the first range stays.
  useLayoutEffect(() => {
    if (last >= first) queries.range$.next({ offset: first, limit: last + 1 - first });
  }, [queries, first, last]);
  const offset = held === undefined ? range.offset : first;
  const rows = held?.slice(first, last + 1) ?? live.rows;
  const sort = page.sort ?? kind.sort;
  const sorting = useMemo<SortingState>(() => [{ id: sort.key, desc: sort.descending }], [sort]);
  const { ref: frame, width } = useElementSize();
  const hasDetails = page.object !== undefined;
  const isTrouble = useIsTrouble() || hasDetails;
  const isMetered = useIsMetered(kind);
  // Columns without room are left out instead of cut, unless the user chose them. On a phone the table scrolls.
  const fits = page.columns === undefined && (hasDetails || width >= WIDE);
  const shown = useMemo(() => {
    const chosen = shownColumns(kind, page.columns, { isTrouble, isMetered });
    if (width > 0 && width < PHONE) return phoneColumns(chosen, width);
    return fits && width > 0 ? fittingColumns(chosen, width, sort.key) : chosen;
  }, [kind, page.columns, fits, isTrouble, isMetered, width, sort.key]);
  const columns = useMemo(() => columnsOf(shown), [shown]);
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
      if (next !== undefined) go({ sort: { key: next.id, descending: next.desc } });
    },
  });
  const [widths, setWidths] = useState<Widths>({ byId: {}, isPhone: false });
  useLayoutEffect(() => {
    if (width === 0) return;
    const headers = scroller.current?.querySelectorAll('[role=columnheader]') ?? [];
    const measured = [...headers].map((header, at) => [
      shown[at]?.id ?? '',
      header.getBoundingClientRect().width,
    ]);
    setWidths({ byId: Object.fromEntries(measured), isPhone: width < PHONE });
  }, [shown, width]);
  const open = (row: Row) => onSelect(row, kind.id);
  const keys = useRowKeys({
    order: held ?? order,
    rows,
    virtualizer,
    scroller,
    open,
    mark: onMark,
  });
  const hold = useHold(scroller, keys.active);
  // The next Tab leads to the rows, unless the user is elsewhere already.
  useEffect(() => {
    const { activeElement } = document;
    const isFree = activeElement === null || activeElement === document.body;
    const { takesKeyboard } = nextTable;
    nextTable.takesKeyboard = false;
    if (takesKeyboard) scroller.current?.focus({ preventScroll: true });
    else if (isFree || activeElement.closest('nav') !== null) {
      scroller.current?.parentElement?.focus({ preventScroll: true });
    }
  }, []);
  const grid = (
    // Rows are placed by transforms, which a <table> does not allow.
    // biome-ignore lint/a11y/noStaticElementInteractions: the role is grid or treegrid
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: see above
    <div
      ref={scroller}
      className={classes.scroller}
      data-empty={total === 0}
      data-phone={widths.isPhone}
      style={sizesOf(shown)}
      role={kind.isTree ? 'treegrid' : 'grid'}
      aria-label={kind.title}
      aria-multiselectable={onMark !== undefined}
      data-marks={marks.size > 0}
      aria-rowcount={isListed ? total + 1 : -1}
      aria-colcount={shown.length}
      aria-activedescendant={keys.activeId}
      aria-busy={!isListed}
      tabIndex={0}
      onKeyDown={keys.onKeyDown}
      onFocus={(event) => {
        keys.onFocus(event);
        hold.onFocus();
      }}
      onBlur={hold.onBlur}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: a grid has no element of its own */}
      <div className={classes.head} role="rowgroup">
        {table.getHeaderGroups().map((group) => (
          // biome-ignore lint/a11y/useSemanticElements: a grid has no element of its own
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays on the grid
          <div key={group.id} className={classes.row} role="row" aria-rowindex={1}>
            {group.headers.map((header) => (
              <ColumnHeader key={header.id} header={header} sorted={header.column.getIsSorted()} />
            ))}
          </div>
        ))}
      </div>
      {total > 0 && (
        // biome-ignore lint/a11y/useSemanticElements: a grid has no element of its own
        <div
          className={classes.body}
          role="rowgroup"
          style={{ height: virtualizer.getTotalSize() }}
          onPointerMove={hold.onPointerMove}
          onPointerLeave={hold.onPointerLeave}
        >
          {table.getRowModel().rows.map((row, at) => (
            <TableRow
              key={row.id}
              row={row}
              columns={columns}
              index={offset + at}
              top={(offset + at) * ROW_HEIGHT}
              active={row.id === keys.active}
              selected={row.id === page.object?.uid}
              gone={held?.isGone(row.original) ?? false}
              marked={marks.has(row.id)}
              onSelect={keys.onSelect}
              onMark={onMark}
            />
          ))}
        </div>
      )}
    </div>
  );
  return (
    <div className={classes.frame} ref={frame} tabIndex={-1}>
      <ColumnWidths value={widths}>{grid}</ColumnWidths>
      {held !== undefined && held.waiting > 0 && (
        <p className={classes.held} data-testid="held">
          {counted(held.waiting, 'row')} will move when you leave the table
        </p>
      )}
      {/* Beside the grid, which may contain only rows. */}
      {total === 0 && <TableState />}
    </div>
  );
}

/** The widths of the columns and the height of a row, which the style sheet reads. */
function sizesOf(columns: ReturnType<typeof shownColumns>): CSSProperties {
  const tracks = columns.map(({ width, grow }) =>
    grow ? `minmax(${width}px, ${grow}fr)` : `${width}px`,
  );
  const least = columns.reduce((sum, { width }) => sum + width, 0);
  const row = `${ROW_HEIGHT}px`;
  return { '--columns': tracks.join(' '), '--least': `${least}px`, '--row': row } as CSSProperties;
}
