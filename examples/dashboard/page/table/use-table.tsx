/** The queries of the table that the page shows, for all components that read them. */
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { useQuery } from 'rx-informer/react/worker';
import { workerQuery } from 'rx-informer/worker';
import { paused$, type Queries, user } from '../cluster/cluster.ts';
import { page$ } from '../cluster/page-state.ts';
import { Cost, rowsOf } from '../cluster/rows.ts';
import { usePage } from '../cluster/use-live.ts';
import { kindOf } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { withColumns } from '../kinds/other-kinds.ts';
import type { Selectors } from '../worker/row-queries.ts';
import { parseFilter } from './filter.ts';
import { TableQueries, type TableSource } from './table-queries.ts';

export interface Table {
  readonly kind: Kind;
  readonly selectors: Selectors;
  readonly queries: TableSource;
  readonly cost: Cost;
}

const noSelectors: Selectors = { labelSelector: '', fieldSelector: '' };

const TableContext = createContext<Table | undefined>(undefined);

/** A kind, with the columns that the server sends if it is one of those that only discovery knows. */
function useKind(id: string): Kind {
  const kind = kindOf(id);
  const query = kind.isTable ? workerQuery<Queries, 'columns'>('columns', id) : undefined;
  const { columns } = useQuery(query).rows[0] ?? {};
  return useMemo(() => (columns ? withColumns(kind, columns) : kind), [kind, columns]);
}

/** Starts the queries of the kind in the URL. Its children are rendered as soon as the queries run. */
export function TableProvider({ children }: { readonly children: ReactNode }) {
  const page = usePage();
  const kind = useKind(page.kind);
  const { labelSelector, fieldSelector } = parseFilter(page.filter, kind.id);
  const [table, setTable] = useState<Table>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the pause was that of the former kind
  useEffect(() => paused$.next(false), [kind]);
  useEffect(() => {
    const cost = new Cost();
    if (user !== undefined && kind.show === undefined) {
      let stop: (() => void) | undefined;
      const ending = new AbortController();
      void import('../users/served-table.ts').then(({ ServedTable }) => {
        if (ending.signal.aborted) return;
        const queries = new ServedTable(kind, page$);
        stop = queries.start();
        setTable({ kind, selectors: { labelSelector, fieldSelector }, queries, cost });
      });
      return () => {
        ending.abort();
        stop?.();
      };
    }
    const selectors = { labelSelector, fieldSelector };
    const isEverything = labelSelector === '' && fieldSelector === '';
    const { rows$, listed$, status$ } = rowsOf(kind, cost, selectors);
    const everything$ = isEverything ? rows$ : rowsOf(kind, new Cost(), noSelectors).rows$;
    const queries = new TableQueries(kind, rows$, everything$, page$, listed$, status$);
    const stop = queries.start();
    // The last subscriber of the rows, so that all steps are done when it is called.
    const metered = rows$.subscribe(({ changes }) => cost.end(changes.length));
    setTable({ kind, selectors, queries, cost });
    return () => {
      metered.unsubscribe();
      stop();
    };
  }, [kind, labelSelector, fieldSelector]);
  return table?.kind === kind && <TableContext value={table}>{children}</TableContext>;
}

export function useTableQueries(): Table {
  const table = useContext(TableContext);
  if (table === undefined) throw new Error('this component is outside of the TableProvider');
  return table;
}
