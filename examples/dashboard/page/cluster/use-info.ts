/** What the page is connected to, asked now and then; asking tells the server that the page is still open. */
import { useEffect, useState } from 'react';
import type { DashboardInfo } from '../../shared/messages.ts';

const EVERY_MS = 5000;
const page = crypto.randomUUID();

/** The server's answer; `undefined` until the first has come. */
export function useInfo(): DashboardInfo | undefined {
  const [info, setInfo] = useState<DashboardInfo>();
  useEffect(() => {
    const ending = new AbortController();
    const ask = async () => {
      const answer = await fetch(`/dashboard/info?page=${page}`, { signal: ending.signal });
      if (answer.ok) setInfo((await answer.json()) as DashboardInfo);
    };
    // An answer that does not come is asked for again at the next beat.
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
