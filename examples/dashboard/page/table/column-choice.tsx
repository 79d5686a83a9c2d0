/** The choice of columns, which is kept in the URL. The menu is loaded when it is opened first. */
import { ActionIcon } from '@mantine/core';
import { Suspense, useState } from 'react';
import { useQuery, useView } from 'rx-informer/react/worker';
import { workerQuery } from 'rx-informer/worker';
import { type Queries, user } from '../cluster/cluster.ts';
import { usePage } from '../cluster/use-live.ts';
import type { Kind } from '../kinds/kind.ts';
import { ColumnsIcon } from '../layout/icons.tsx';
import { loadedLater } from '../layout/loaded.tsx';
import { shownColumns } from './shown-columns.ts';
import { useTableQueries } from './use-table.tsx';

const ColumnMenu = loadedLater(async () => (await import('./column-menu.tsx')).ColumnMenu);

/** Whether the table is filtered to rows in trouble. */
export function useIsTrouble(): boolean {
  const { queries } = useTableQueries();
  const statuses = useView(queries.counts.statuses).rows;
  const { tone, status } = usePage();
  if (tone !== '' || status === '') return tone === 'bad';
  return (statuses.find(({ key }) => key === status)?.bad ?? 0) > 0;
}

/** Whether the cluster says what the objects of a kind use. */
export function useIsMetered({ metered }: Kind): boolean {
  const query =
    user === undefined && metered && workerQuery<Queries, 'isMetered'>('isMetered', metered);
  return useQuery(query || undefined).rows.length > 0;
}

export function ColumnChoice() {
  const { kind } = useTableQueries();
  const { columns } = usePage();
  const isMetered = useIsMetered(kind);
  const shown = shownColumns(kind, columns, { isTrouble: useIsTrouble(), isMetered });
  const [isAsked, ask] = useState(false);
  const button = (
    <ActionIcon
      variant="default"
      size={36}
      aria-label="Choose columns"
      aria-haspopup="menu"
      onClick={() => ask(true)}
    >
      <ColumnsIcon />
    </ActionIcon>
  );
  if (!isAsked) return button;
  // The first column names the row.
  const offered = kind.columns.slice(1).filter(({ isUsage }) => !isUsage || isMetered);
  return (
    <Suspense fallback={button}>
      <ColumnMenu offered={offered} shown={shown.map(({ id }) => id)}>
        {button}
      </ColumnMenu>
    </Suspense>
  );
}
