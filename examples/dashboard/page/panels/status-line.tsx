/** Shows the informer's status in words: live, loading, reconnecting, or the reason for a refusal. */
import { Button, Group, Paper, Progress, Text } from '@mantine/core';
import { useClockText } from '../cluster/clock.ts';
import { informer, podQueries } from '../cluster/live-pods.ts';
import { type StatusWords, statusWords } from '../cluster/status-words.ts';
import { useStatus, useValue } from '../cluster/use-live.ts';
import classes from './status-line.module.css';

const number = new Intl.NumberFormat('en-US');

export function StatusLine() {
  const status = useStatus();
  const { resourceVersion, changes } = useValue(podQueries.received$);
  // The words can contain a countdown, so the clock renders them again if they have changed.
  const text = useClockText((now) =>
    status === undefined ? '' : JSON.stringify(statusWords(status, resourceVersion, now)),
  );
  if (status === undefined || text === '') return null;
  const words = JSON.parse(text) as StatusWords;
  return (
    <Paper withBorder className={classes.line} data-tone={words.tone} data-testid="status">
      <Group gap="sm" wrap="nowrap" className={classes.words}>
        <span className={classes.dot} />
        {/* Screen readers announce a new headline only, not each resourceVersion. */}
        <Text fw={650} size="sm" className={classes.headline} aria-live="polite">
          {words.headline}
        </Text>
        <Text size="sm" c="dimmed" truncate title={words.detail}>
          {words.detail}
        </Text>
        {status.phase === 'backoff' && (
          <Button variant="default" size="compact-xs" className={classes.retry} onClick={tryNow}>
            Try now
          </Button>
        )}
      </Group>
      <Group gap="lg" wrap="nowrap" visibleFrom="md" className={classes.counters}>
        <Counter value={changes} name="changes" />
        <Counter value={status.reconnects} name="reconnects" />
        <Counter value={status.relists} name="relists" />
      </Group>
      {words.progress !== undefined && (
        <Progress
          className={classes.progress}
          value={words.progress * 100}
          size={3}
          radius={0}
          aria-label="Loading pods"
        />
      )}
    </Paper>
  );
}

/** Tries immediately. The status shows the outcome. */
function tryNow(): void {
  informer.refresh().catch(() => undefined);
}

function Counter({ value, name }: { readonly value: number; readonly name: string }) {
  return (
    <Text size="xs" c="dimmed" className={classes.counter}>
      <b>{number.format(value)}</b> {name}
    </Text>
  );
}
