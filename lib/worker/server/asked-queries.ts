/** `askedQueries`, which says which tab asks what. It looks at the tabs while somebody reads it, so that others pay nothing. */
import { asyncScheduler, Observable, type SchedulerLike } from 'rxjs';
import { check, checkedPeriod } from '../../checks/checked-option.ts';
import type { Change } from '../../delta/net-change.ts';
import type { Stored } from '../../meta/kubernetes-object.ts';
import { longInterval } from '../../rx/long-timer.ts';
import { createChangeSet } from '../../store/change-set.ts';
import type { ChangeStream } from '../../store/change-stream.ts';
import type { CarriedQuery } from '../carried-query.ts';
import { sortedJson } from './answers.ts';
import { QueryServer } from './query-server.ts';
import type { ServedQueries } from './serve-queries.ts';
import type { ServedTab } from './served-tab.ts';

/** A query that tabs ask. */
export interface AskedOfWorker {
  /** The query as data; `named` and `params` of one that {@link workerQuery} names. */
  readonly query: Readonly<Record<string, unknown>>;
  /** The tabs that ask it, in the order of their numbers. A tab keeps its number while it is connected. */
  readonly tabs: readonly { readonly tab: number; readonly isHidden: boolean }[];
}

/** The options of {@link askedQueries}. */
export interface AskedQueriesOptions {
  /** How often the tabs are looked at, in milliseconds; 1 or more. @defaultValue 1000 */
  readonly periodMs?: number | undefined;
  /** @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

type Row = Stored<AskedOfWorker>;

/** The numbers of tabs, and the last one of each worker. */
const numbers = /* @__PURE__ */ new WeakMap<object, number>();

function numberOf(server: QueryServer, tab: ServedTab): number {
  const known = numbers.get(tab);
  if (known !== undefined) return known;
  const number = (numbers.get(server) ?? 0) + 1;
  numbers.set(server, number);
  numbers.set(tab, number);
  return number;
}

/** The queries that tabs ask at present, by the text of the query. */
function look(server: QueryServer): ReadonlyMap<string, AskedOfWorker> {
  const asked = new Map<string, { query: CarriedQuery; tabs: Map<number, boolean> }>();
  for (const served of server.tabs) {
    const number = numberOf(server, served);
    for (const { query } of served.asked.values()) {
      const key = sortedJson(query);
      const row = asked.get(key) ?? { query, tabs: new Map() };
      row.tabs.set(number, served.isHidden);
      asked.set(key, row);
    }
  }
  const rowOf = ({ query, tabs }: { query: CarriedQuery; tabs: Map<number, boolean> }) => ({
    query,
    tabs: [...tabs]
      .sort(([one], [other]) => one - other)
      .map(([tab, isHidden]) => ({ tab, isHidden })),
  });
  return new Map([...asked].map(([key, each]) => [key, rowOf(each)]));
}

/** Brings the rows up to date, and returns what has changed, deletions first. */
function changesTo(
  rows: Map<string, Row>,
  now: ReadonlyMap<string, AskedOfWorker>,
): Change<AskedOfWorker>[] {
  const changes: Change<AskedOfWorker>[] = [];
  for (const [id, previous] of [...rows]) {
    if (now.has(id)) continue;
    rows.delete(id);
    changes.push({ id, key: id, previous });
  }
  for (const [id, row] of now) {
    const previous = rows.get(id);
    if (JSON.stringify(previous?.tabs) === JSON.stringify(row.tabs)) continue;
    const object = row as Row;
    rows.set(id, object);
    changes.push({ id, key: id, object, ...(previous && { previous }) });
  }
  return changes;
}

/**
 * Says which tab asks what, as the worker sees it: a row for each query that tabs ask, with the numbers of these tabs. Give it a
 * name, so that pages can ask it. A page that sends a text of its own as parameter finds itself in the row of this text.
 *
 * Throws a `TypeError` if `served` is not what `serveQueries` returned, or on an invalid period.
 *
 * @example
 * ```ts
 * import { createClient, createInformerFactory } from 'rx-informer';
 * import { askedQueries, type ServedQueries, serveQueries } from 'rx-informer/worker';
 *
 * const served: ServedQueries = serveQueries({
 *   createFactory: ({ fetch, demand }) =>
 *     createInformerFactory(createClient({ baseUrl: 'http://localhost:8001', fetch }), { demand }),
 *   queries: { asked: (_page: string) => askedQueries(served) },
 * });
 * served.counts.tabs; // => 0
 * ```
 */
export function askedQueries(
  served: ServedQueries,
  { periodMs = 1000, scheduler = asyncScheduler }: AskedQueriesOptions = {},
): ChangeStream<AskedOfWorker> {
  const isServed = served instanceof QueryServer;
  check(isServed, 'askedQueries: the first argument', served, 'what serveQueries(…) returned');
  checkedPeriod(periodMs, 'askedQueries: periodMs', 1);
  return new Observable((subscriber) => {
    const rows = new Map<string, Row>();
    let rev = 0;
    const emit = () => {
      const changes = changesTo(rows, look(served));
      const reset = rev === 0;
      if (!reset && changes.length === 0) return;
      const cause = reset ? 'snapshot' : 'time';
      const head = {
        rev: ++rev,
        cause,
        reset,
        synced: true,
        initial: false,
        resourceVersion: '',
      } as const;
      subscriber.next(createChangeSet<AskedOfWorker>(head, changes));
    };
    emit();
    subscriber.add(longInterval(periodMs, scheduler).subscribe(emit));
  }) as ChangeStream<AskedOfWorker>;
}
