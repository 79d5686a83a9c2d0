/**
 * Reads what the page is connected to, every few seconds. The request also shows the server that the page is still
 * open.
 */
import { useFetch, useInterval } from '@mantine/hooks';
import type { DashboardInfo } from '../../shared/messages.ts';

const EVERY_MS = 5000;
const page = crypto.randomUUID();

/** The latest response of the server; `undefined` before the first one. */
export function useInfo(): DashboardInfo | undefined {
  const { data, loading, refetch } = useFetch<DashboardInfo>(`/dashboard/info?page=${page}`);
  // A failed request is repeated at the next tick, and one that takes longer is not ended by another.
  useInterval(() => void (loading || refetch()), EVERY_MS, { autoInvoke: true });
  return data ?? undefined;
}
