/** What decides about columns that are shown only sometimes. */
import { useQuery, useView } from 'rx-informer/react/worker';
import { workerQuery } from 'rx-informer/worker';
import type { Queries } from '../cluster/cluster.ts';
import { usePage } from '../cluster/use-live.ts';
import type { Kind } from '../kinds/kind.ts';
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
