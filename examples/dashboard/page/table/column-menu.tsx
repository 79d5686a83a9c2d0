/** The choice of columns, which is kept in the URL. It is loaded after the table. */
import { ActionIcon, Menu } from '@mantine/core';
import { go } from '../cluster/page-state.ts';
import { usePage } from '../cluster/use-live.ts';
import { ColumnsIcon } from '../layout/icons.tsx';
import { shownColumns } from './shown-columns.ts';
import { useIsMetered, useIsTrouble } from './use-column-choice.ts';
import { useTableQueries } from './use-table.tsx';

export function ColumnMenu() {
  const { kind } = useTableQueries();
  const { columns } = usePage();
  const isMetered = useIsMetered(kind);
  const is = { isTrouble: useIsTrouble(), isMetered };
  const shown = shownColumns(kind, columns, is).map(({ id }) => id);
  const offered = kind.columns.slice(1).filter(({ isUsage }) => !isUsage || isMetered);
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
        {offered.map(({ id, title }) => (
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
