/**
 * Reads what the page is connected to, every few seconds. The request also shows the server that the page is still
 * open.
 */
import { useEffect, useState } from 'react';
import type { DashboardInfo } from '../../shared/messages.ts';

const EVERY_MS = 5000;
const page = crypto.randomUUID();

/** The latest response of the server; `undefined` before the first one. */
export function useInfo(): DashboardInfo | undefined {
  const [info, setInfo] = useState<DashboardInfo>();
  useEffect(() => {
    const ending = new AbortController();
    const ask = async () => {
      const answer = await fetch(`/dashboard/info?page=${page}`, { signal: ending.signal });
      if (answer.ok) setInfo((await answer.json()) as DashboardInfo);
    };
    // A failed request is repeated at the next tick.
    const quietly = () => void ask().catch(() => undefined);
    quietly();
    const timer = setInterval(quietly, EVERY_MS);
    return () => {
      clearInterval(timer);
      ending.abort();
    };
  }, []);
  return info;
}
