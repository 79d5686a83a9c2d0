/** The log of the recent status changes, with their times. */
import { useEffect } from 'react';
import { BehaviorSubject } from 'rxjs';
import { clock } from '../../shared/words.ts';
import { errorWords } from '../cluster/error-words.ts';
import { statusWords } from '../cluster/status-words.ts';
import { useValue } from '../cluster/use-live.ts';
import { useTableQueries } from '../table/use-table.tsx';
import { PanelPart } from './panel-part.tsx';
import classes from './server-panel.module.css';

const KEPT = 30;

interface Line {
  readonly id: number;
  readonly atMs: number;
  readonly text: string;
}

const lines$ = new BehaviorSubject<readonly Line[]>([]);

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

export function ActivityLog() {
  const lines = useValue(lines$);
  return (
    <PanelPart title="Informer activity">
      <ul className={classes.log} data-testid="log">
        {lines.map(({ id, atMs, text }) => (
          <li key={id}>
            <time dateTime={new Date(atMs).toISOString()}>{clock.format(atMs)}</time>
            <span>{text}</span>
          </li>
        ))}
      </ul>
    </PanelPart>
  );
}
