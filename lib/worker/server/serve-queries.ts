/** `serveQueries`, which answers the queries of all tabs in a worker. */
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import {
  checkedDuration,
  checkedFunction,
  checkedTimeout,
  ifGiven,
} from '../../checks/checked-option.ts';
import type { PersistPart } from '../../persist/snapshots-in.ts';
import type { Fetch } from '../../transport/fetch-transport.ts';
import type { WorkerQueries } from '../carried-query.ts';
import type { Port } from '../messages.ts';
import { OwnSession, type SessionFactory, type WorkerSession } from './session.ts';
import { serveTabs } from './worker-scope.ts';

/** The options of {@link serveQueries}. */
export interface ServeQueriesOptions {
  /**
   * Makes the factory of informers for one identity. It is called when the first query of a session is asked, and the
   * factory is stopped when the session ends.
   */
  readonly createFactory: (session: WorkerSession) => SessionFactory;
  /**
   * The queries that tabs may ask by name, such as those with functions, and streams of live operators: {@link workerQuery}. A
   * tab may send any parameters, so check them. @defaultValue none
   */
  readonly queries?: WorkerQueries | undefined;
  /**
   * Makes the store of an identity's objects on disk, such as `indexedDbSnapshots({ identity, … })`, which `createFactory` receives
   * as `session.persist`. When the user signs out, or another one signs in, everything that was stored for the identity
   * is deleted. Nothing is stored for an identity without a store. @defaultValue nothing is stored
   */
  readonly persist?:
    | ((session: { readonly identity: string }) => PersistPart | undefined)
    | undefined;
  /**
   * How long a pipeline stays after the last tab has left it, in milliseconds. @defaultValue the linger of the factory
   */
  readonly lingerMs?: number | undefined;
  /**
   * How long all tabs may be hidden before `session.demand` closes, in milliseconds. Infinity never closes it.
   * @defaultValue 60000
   */
  readonly hiddenGraceMs?: number | undefined;
  /** How long one tab may take to give credentials, in milliseconds. @defaultValue 10000 */
  readonly credentialsTimeoutMs?: number | undefined;
  /** The `fetch` behind `session.fetch`. @defaultValue the global `fetch` */
  readonly fetch?: Fetch | undefined;
  /** @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

/** What {@link serveQueries} returns. A module that a page may import in place of a worker exports it. */
export interface ServedQueries {
  /** Serves the tab behind a port. Ports of a worker's own tabs are served already. */
  connect(port: Port): void;
  /** How many tabs are served, and how many pipelines they share. */
  readonly counts: { readonly tabs: number; readonly pipelines: number };
}

/**
 * Answers the queries of all tabs with informers that live in this worker. Call it once, in the file of a SharedWorker or
 * of a Worker, before any `await`, and connect with {@link connectWorker} in the page. In a page it serves the tabs
 * that are given to `connect`.
 *
 * Equal queries of all tabs share one pipeline and one watch. All tabs have one identity: if a tab names another one, the
 * session of the former ends, with its requests and stores, and its tabs show no rows.
 *
 * Throws a `TypeError` on an invalid option.
 *
 * @example
 * ```ts
 * import { createClient, createInformerFactory, liveQuery } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { serveQueries } from 'rx-informer/worker';
 *
 * const podsOf = (namespace: string) =>
 *   liveQuery({ from: pods, namespace, select: { name: 'metadata.name' } });
 * const served = serveQueries({
 *   createFactory: ({ fetch, demand }) =>
 *     createInformerFactory(createClient({ baseUrl: 'http://localhost:8001', fetch }), { demand }),
 *   queries: { podsOf },
 * });
 * served.counts; // => { tabs: 0, pipelines: 0 }
 * ```
 */
export function serveQueries(options: ServeQueriesOptions): ServedQueries {
  const { createFactory, queries = {}, lingerMs, persist, scheduler = asyncScheduler } = options;
  const must = '(session) => createInformerFactory(…)';
  checkedFunction(createFactory, 'serveQueries: createFactory', must);
  const { hiddenGraceMs = 60_000, credentialsTimeoutMs = 10_000 } = options;
  ifGiven(checkedDuration, lingerMs, 'serveQueries: lingerMs');
  const send: Fetch = options.fetch ?? ((input, init) => fetch(input, init));
  return serveTabs({
    scheduler,
    hiddenGraceMs: checkedDuration(hiddenGraceMs, 'serveQueries: hiddenGraceMs'),
    credentialsTimeoutMs: checkedTimeout(
      credentialsTimeoutMs,
      'serveQueries: credentialsTimeoutMs',
    ),
    begin: (beginning) =>
      new OwnSession({ ...beginning, createFactory, queries, lingerMs, persist, fetch: send }),
  });
}
