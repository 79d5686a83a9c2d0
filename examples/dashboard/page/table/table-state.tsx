/** The placeholder for an empty table: loading, failed, an empty cluster, or a filter that matches nothing. */
import { Button, EmptyState, type EmptyStateProps, Loader } from '@mantine/core';
import { useView } from 'rx-informer/react/worker';
import { retryNow, user } from '../cluster/cluster.ts';
import { errorWords } from '../cluster/error-words.ts';
import { go, noFilter } from '../cluster/page-state.ts';
import { statusWords } from '../cluster/status-words.ts';
import { useValue } from '../cluster/use-live.ts';
import { rowsName } from '../kinds/kind.ts';
import { AlertIcon, FilterIcon, InboxIcon } from '../layout/icons.tsx';
import classes from './table.module.css';
import { useTableQueries } from './use-table.tsx';

function useEmptyState(): EmptyStateProps {
  const { kind, queries } = useTableQueries();
  const status = useValue(queries.status$);
  const isListed = useValue(queries.isListed$);
  const all = useView(queries.counts.all).rows[0]?.count ?? 0;
  const what = rowsName(kind);
  if (all > 0) {
    return {
      icon: <FilterIcon size={28} />,
      withIndicatorBackground: true,
      title: `Nothing in ${what} matches the filter`,
      description: 'Matching rows will appear here automatically.',
      children: <Act text="Clear filters" onClick={() => go(noFilter)} />,
    };
  }
  if (status.error !== undefined) {
    const { headline } = statusWords(status, what, Date.now());
    const isBlocked = status.blocked !== undefined;
    return {
      ...{ icon: <AlertIcon size={28} />, variant: 'light', color: 'orange', role: 'alert' },
      title: isBlocked ? headline : `The list of ${what} could not be read yet`,
      description: errorWords(status.error),
      children: user === undefined && <Act text="Retry now" onClick={() => retryNow(kind)} />,
    };
  }
  if (isListed) {
    return {
      ...{ icon: <InboxIcon size={28} />, withIndicatorBackground: true },
      title: `There are no ${what} in this cluster`,
      description: 'New ones will appear here automatically.',
    };
  }
  const description = 'Rows appear as they arrive.';
  return { icon: <Loader size="sm" />, title: `Loading ${what}`, description };
}

function Act({ text, onClick }: { readonly text: string; readonly onClick: () => void }) {
  return (
    <Button variant="light" size="xs" onClick={onClick}>
      {text}
    </Button>
  );
}

export function TableState() {
  return <EmptyState className={classes.state} {...useEmptyState()} />;
}
