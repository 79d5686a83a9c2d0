/** The choice of columns, which is kept in the URL. */
import { ActionIcon, Menu } from '@mantine/core';
import { useQuery, useView } from 'rx-informer/react/worker';
import { workerQuery } from 'rx-informer/worker';
import type { Queries } from '../cluster/cluster.ts';
import { go } from '../cluster/page-state.ts';
import { usePage } from '../cluster/use-live.ts';
import type { Kind } from '../kinds/kind.ts';
import { ColumnsIcon } from '../layout/icons.tsx';
import { shownColumns } from './shown-columns.ts';
import { useTableQueries } from './use-table.tsx';

/** Whether the table is filtered to rows in trouble. */
export function useIsTrouble(): boolean {
  const { queries } = useTableQueries();
  const statuses = useView(queries.statuses).rows;
  const { tone, status } = usePage();
  if (tone !== '' || status === '') return tone === 'bad';
  return (statuses.find(({ key }) => key === status)?.bad ?? 0) > 0;
}

/** Whether the cluster says what the objects of a kind use. */
export function useIsMetered({ metered }: Kind): boolean {
  const query = metered && workerQuery<Queries, 'isMetered'>('isMetered', metered);
  return useQuery(query).rows.length > 0;
}

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
