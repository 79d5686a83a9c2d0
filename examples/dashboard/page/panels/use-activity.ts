/** Writes the log of the recent status changes, also while nobody looks at it. */
import { useEffect } from 'react';
import { BehaviorSubject } from 'rxjs';
import { errorWords } from '../cluster/error-words.ts';
import { statusWords } from '../cluster/status-words.ts';
import { useTableQueries } from '../table/use-table.tsx';

const KEPT = 30;

interface Line {
  readonly id: number;
  readonly atMs: number;
  readonly text: string;
}

export const lines$ = new BehaviorSubject<readonly Line[]>([]);

export function useActivity(): void {
  const { kind, queries } = useTableQueries();
  useEffect(() => {
    const subscription = queries.status$.subscribe((status) => {
      const { headline } = statusWords(status, kind.title, Date.now());
      const isFailure = status.phase === 'backoff' && status.error !== undefined;
      const cause = isFailure && status.error ? `: ${errorWords(status.error)}` : '';
      const text = `${kind.title}: ${headline}${cause}`;
      const [last] = lines$.value;
      if (text === last?.text) return;
      const line = { id: (last?.id ?? 0) + 1, atMs: Date.now(), text };
      lines$.next([line, ...lines$.value].slice(0, KEPT));
    });
    return () => subscription.unsubscribe();
  }, [kind, queries]);
}
