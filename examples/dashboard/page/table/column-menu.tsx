/** The choice of columns, which is kept in the URL. */
import { ActionIcon, Menu } from '@mantine/core';
import { go } from '../cluster/page-state.ts';
import { usePage } from '../cluster/use-live.ts';
import type { Column, Kind } from '../kinds/kind.ts';
import { ColumnsIcon } from '../layout/icons.tsx';
import { useTableQueries } from './use-table.tsx';

/** The columns that are shown: those of the URL, in the order of the kind, or those that are not optional. */
export function shownColumns(kind: Kind, chosen: readonly string[] | undefined): readonly Column[] {
  const shown = kind.columns.filter(({ id, optional }) =>
    chosen === undefined ? !optional : chosen.includes(id),
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

export function ColumnMenu() {
  const { kind } = useTableQueries();
  const { columns } = usePage();
  const shown = shownColumns(kind, columns).map(({ id }) => id);
  const toggle = (id: string) =>
    go({ columns: shown.includes(id) ? shown.filter((each) => each !== id) : [...shown, id] });
  return (
    <Menu
      position="bottom-end"
      closeOnItemClick={false}
      withinPortal={false}
      withInitialFocusPlaceholder={false}
    >
      <Menu.Target>
        <ActionIcon variant="default" size={36} aria-label="Choose columns">
          <ColumnsIcon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {/* The first column names the row. */}
        {kind.columns.slice(1).map(({ id, title }) => (
          <Menu.CheckboxItem
            key={id}
            checked={shown.includes(id)}
            closeMenuOnClick={false}
            onChange={() => toggle(id)}
          >
            {title}
          </Menu.CheckboxItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
