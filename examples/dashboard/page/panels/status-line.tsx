/** Shows the status of the informers of the table in words: live, loading, reconnecting, or the reason for a refusal. */
import { Button, Paper, Progress, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { counted } from '../../shared/words.ts';
import { useClockText } from '../cluster/clock.ts';
import { paused$, retryNow, user } from '../cluster/cluster.ts';
import { type StatusWords, statusWords, WAITING } from '../cluster/status-words.ts';
import { useValue } from '../cluster/use-live.ts';
import { useTableQueries } from '../table/use-table.tsx';
import classes from './status-line.module.css';

/** A wait for a connection that is shorter, in milliseconds, is not shown. */
const SHORT_MS = 1000;

/** The words, but the former ones during a short wait, which every new page begins with. */
function useLasting(words: StatusWords): StatusWords {
  const [lasts, setLasts] = useState(false);
  const former = useRef<StatusWords>({ tone: 'busy', headline: 'Loading', detail: '' });
  const waits = words.headline === WAITING;
  useEffect(() => {
    setLasts(false);
    if (!waits) return;
    const timer = setTimeout(() => setLasts(true), SHORT_MS);
    return () => clearTimeout(timer);
  }, [waits]);
  if (waits && !lasts) return former.current;
  former.current = words;
  return words;
}

export function StatusLine() {
  const { kind, queries } = useTableQueries();
  const status = useValue(queries.status$);
  // A joined table loads objects of several kinds.
  const what = kind.join === undefined ? kind.title : 'objects';
  const isPaused = useValue(paused$);
  // The words can contain a countdown, so the clock renders them again if they have changed.
  const text = useClockText((now) => JSON.stringify(statusWords(status, what, now)));
  const words = useLasting(JSON.parse(text) as StatusWords);
  const { phase, blocked, reconnects = 0, relists = 0 } = status;
  return (
    <Paper withBorder className={classes.line} data-tone={words.tone} data-testid="status">
      <span className={classes.dot} />
      {/* Screen readers announce a new headline only. */}
      <Text fw={650} size="sm" className={classes.headline} aria-live="polite">
        {words.headline}
      </Text>
      <Text size="sm" c="dimmed" className={classes.detail} title={words.detail}>
        {isPaused ? 'updates of the table are paused' : words.detail}
      </Text>
      {/* The informers of all users try again by themselves. */}
      {user === undefined && (phase === 'backoff' || blocked !== undefined) && (
        <Button
          variant="default"
          size="compact-xs"
          className={classes.retry}
          onClick={() => retryNow(kind)}
        >
          Retry now
        </Button>
      )}
      {/* Whoever is live again has missed nothing. */}
      {words.tone !== 'live' && (
        <Text size="xs" c="dimmed" className={classes.counters}>
          {counted(reconnects, 'reconnect')} · {counted(relists, 'relist')}
        </Text>
      )}
      {words.progress !== undefined && (
        <Progress
          className={classes.progress}
          value={words.progress * 100}
          size={3}
          radius={0}
          aria-label={`Loading ${kind.title}`}
        />
      )}
    </Paper>
  );
}
