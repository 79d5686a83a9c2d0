/** The log of the informer's recent status changes, with their times. */
import { Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { informer } from '../cluster/live-pods.ts';
import { statusWords } from '../cluster/status-words.ts';
import classes from './server-panel.module.css';

const KEPT = 30;
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

let count = 0;

interface Line {
  readonly id: number;
  readonly atMs: number;
  readonly text: string;
}

export function ActivityLog() {
  const [lines, setLines] = useState<readonly Line[]>([]);
  useEffect(() => {
    let last = '';
    const subscription = informer.status$.subscribe((status) => {
      const { headline } = statusWords(status, status.resourceVersion, Date.now());
      const cause = status.phase === 'backoff' ? `: ${status.error?.message ?? ''}` : '';
      const text = headline + cause;
      if (text === last) return;
      last = text;
      const line = { id: count++, atMs: Date.now(), text };
      setLines((before) => [line, ...before].slice(0, KEPT));
    });
    return () => subscription.unsubscribe();
  }, []);
  return (
    <section aria-labelledby="log">
      <Text component="h2" id="log" className={classes.heading}>
        Informer activity
      </Text>
      <ul className={classes.log} data-testid="log">
        {lines.map(({ id, atMs, text }) => (
          <li key={id}>
            <time dateTime={new Date(atMs).toISOString()}>{clock.format(atMs)}</time>
            <span>{text}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
