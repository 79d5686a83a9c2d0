/** The placeholder for an empty table: loading, failed, an empty cluster, or a filter that matches nothing. */
import { Button, EmptyState, Loader } from '@mantine/core';
import { useView } from 'rx-informer/react/worker';
import { retryNow } from '../cluster/cluster.ts';
import { errorWords } from '../cluster/error-words.ts';
import { go, noFilter } from '../cluster/page-state.ts';
import { statusWords } from '../cluster/status-words.ts';
import { useValue } from '../cluster/use-live.ts';
import { rowsName } from '../kinds/kind.ts';
import { AlertIcon, FilterIcon, InboxIcon } from '../layout/icons.tsx';
import classes from './table.module.css';
import { useTableQueries } from './use-table.tsx';

export function TableState() {
  const { kind, queries } = useTableQueries();
  const status = useValue(queries.status$);
  const isListed = useValue(queries.isListed$);
  const all = useView(queries.all).rows[0]?.count ?? 0;
  const what = rowsName(kind);
  if (all > 0) {
    return (
      <EmptyState
        className={classes.state}
        icon={<FilterIcon size={28} />}
        withIndicatorBackground
        title={`Nothing in ${what} matches the filter`}
        description="Matching rows will appear here automatically."
      >
        <Button variant="light" size="xs" onClick={() => go(noFilter)}>
          Clear filters
        </Button>
      </EmptyState>
    );
  }
  if (status.error !== undefined) {
    const { headline } = statusWords(status, what, Date.now());
    return (
      <EmptyState
        className={classes.state}
        icon={<AlertIcon size={28} />}
        variant="light"
        color="orange"
        title={
          status.blocked === undefined ? `The list of ${what} could not be read yet` : headline
        }
        description={errorWords(status.error)}
        role="alert"
      >
        <Button variant="light" size="xs" onClick={() => retryNow(kind)}>
          Retry now
        </Button>
      </EmptyState>
    );
  }
  if (isListed) {
    return (
      <EmptyState
        className={classes.state}
        icon={<InboxIcon size={28} />}
        withIndicatorBackground
        title={`There are no ${what} in this cluster`}
        description="New ones will appear here automatically."
      />
    );
  }
  return (
    <EmptyState
      className={classes.state}
      icon={<Loader size="sm" />}
      title={`Loading ${what}`}
      description="Rows appear as they arrive."
    />
  );
}
