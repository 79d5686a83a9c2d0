/** What stands where rows would be: still loading, failed, an empty cluster, or a filter that hides all. */
import { Button, EmptyState, Loader } from '@mantine/core';
import { podList } from '../cluster/live-pods.ts';
import { statusWords } from '../cluster/status-words.ts';
import { usePodList, useStatus } from '../cluster/use-live.ts';
import { AlertIcon, FilterIcon, InboxIcon } from '../layout/icons.tsx';
import { noFilter } from '../pods/filter.ts';
import classes from './pod-table.module.css';

export function TableState() {
  const status = useStatus();
  const total = usePodList((list) => list.total);
  const synced = usePodList((list) => list.synced);
  if (total > 0) {
    return (
      <EmptyState
        className={classes.state}
        icon={<FilterIcon size={28} />}
        withIndicatorBackground
        title="No pod matches the filter"
        description="Pods that match will appear here by themselves."
      >
        <Button variant="light" size="xs" onClick={() => podList.filter(noFilter)}>
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
        description="The first one will appear here by itself."
      />
    );
  }
  return (
    <EmptyState
      className={classes.state}
      icon={<Loader size="sm" />}
      title="Reading the list of pods"
      description="Rows appear as they come."
    />
  );
}
