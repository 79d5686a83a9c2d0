/** The placeholder for an empty table: loading, failed, an empty cluster, or a filter that matches nothing. */
import { Button, EmptyState, Loader } from '@mantine/core';
import { podQueries } from '../cluster/live-pods.ts';
import { statusWords } from '../cluster/status-words.ts';
import { usePodCount, useStatus, useView } from '../cluster/use-live.ts';
import { AlertIcon, FilterIcon, InboxIcon } from '../layout/icons.tsx';
import { noFilter } from '../pods/filter.ts';
import classes from './pod-table.module.css';

export function TableState() {
  const status = useStatus();
  const total = usePodCount();
  const synced = useView(podQueries.table, (snapshot) => snapshot.synced);
  if (total > 0) {
    return (
      <EmptyState
        className={classes.state}
        icon={<FilterIcon size={28} />}
        withIndicatorBackground
        title="No pod matches the filter"
        description="Matching pods will appear here automatically."
      >
        <Button variant="light" size="xs" onClick={() => podQueries.filter$.next(noFilter)}>
          Clear filters
        </Button>
      </EmptyState>
    );
  }
  if (status?.error !== undefined) {
    const { headline } = statusWords(status, '', Date.now());
    return (
      <EmptyState
        className={classes.state}
        icon={<AlertIcon size={28} />}
        variant="light"
        color="orange"
        title={status.blocked === undefined ? 'The pods could not be read yet' : headline}
        description={status.error.message}
        role="alert"
      />
    );
  }
  if (synced) {
    return (
      <EmptyState
        className={classes.state}
        icon={<InboxIcon size={28} />}
        withIndicatorBackground
        title="There are no pods in this cluster"
        description="New pods will appear here automatically."
      />
    );
  }
  return (
    <EmptyState
      className={classes.state}
      icon={<Loader size="sm" />}
      title="Loading the list of pods"
      description="Rows appear as they arrive."
    />
  );
}
