/** `connectWorker`, which asks a worker for the answers of queries. */
import { asyncScheduler, type Observable, type SchedulerLike, Subscription } from 'rxjs';
import { checkedDuration, checkedName, refusal } from '../../checks/checked-option.ts';
import type { LiveQuery } from '../../query/live-query/live-query.ts';
import { NO_VIEW_STATUS, type View } from '../../query/view/view.ts';
import { looseTimer } from '../../rx/long-timer.ts';
import { carryQuery, type WorkerQuery } from '../carried-query.ts';
import type { Credentials } from '../messages.ts';
import { AskedView } from './asked-view.ts';
import { type HostMakers, hostsOf, type StartHost } from './hosts.ts';
import { type TabPage, thisPage } from './page-life.ts';
import { Tab } from './tab.ts';
import type { Peer, WorkerConnection } from './worker-link.ts';

/** The options of {@link connectWorker}. */
export interface ConnectWorkerOptions extends HostMakers {
  /**
   * Who is signed in, such as the id of the user; `undefined` while nobody is. Rows of one identity are never shown
   * under another one.
   */
  readonly identity: string | undefined;
  /**
   * Returns the headers of requests, such as `authorization`. They go to the worker alone, and are asked for again after a
   * 401. @defaultValue requests are sent with the cookies of the browser
   */
  readonly credentials?: (() => Credentials | Promise<Credentials>) | undefined;
  /** How long the rows of a view stay after its last subscriber has left, in milliseconds. @defaultValue 30000 */
  readonly lingerMs?: number | undefined;
  /** @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

/** The queries that a worker answers for a page. Its methods work without it. */
export interface WorkerCluster {
  /**
   * The rows of a query: the same view for equal queries while they are used. Throws a `TypeError` if the query
   * cannot be sent to a worker: it has a function, or neither `select` nor a `limit` of at most 200. What else is wrong with it
   * is the `error` of the view's status.
   */
  readonly view: <Row>(query: LiveQuery<Row> | WorkerQuery<Row>) => View<Row>;
  /** The connection to the worker, now and after each change. */
  readonly connection$: Observable<WorkerConnection>;
  readonly connection: WorkerConnection;
  /**
   * Says who has signed in. For all tabs: those of another identity show no rows from now on. Call it after a sign-in; a
   * changed cookie alone changes nothing that is open.
   */
  readonly signedIn: (identity: string) => void;
  /** Says that the user has signed out. No tab shows rows from now on, and the worker drops its stores. */
  readonly signedOut: () => void;
  /** Leaves the worker. Views keep their rows, marked as stale. */
  readonly close: () => void;
}

function checkIdentity(where: string, identity: unknown): void {
  if (identity === undefined) return;
  checkedName(identity, `${where}: identity`, 'the name of the user, or undefined');
}

const tabs = /* @__PURE__ */ new WeakMap<WorkerCluster, Tab>();

/** The connection of a cluster. Throws a `TypeError` if it is not one that `connectWorker` or `connectServer` returned. */
export function tabOf(cluster: WorkerCluster): Tab {
  const tab = tabs.get(cluster);
  if (tab !== undefined) return tab;
  throw refusal('editInWorker: the cluster', cluster, 'one that connectWorker returned');
}

/** Who is signed in; `undefined` also for a cluster that `connectWorker` has not returned. */
export function identityOf(cluster: WorkerCluster): string | undefined {
  return tabs.get(cluster)?.identity;
}

/** The waits before the next try, in milliseconds. The last one repeats. */
const WAITS_MS: readonly number[] = [0, 200, 1_000, 5_000, 15_000];

/** How long to wait before the next try after this many failures, in milliseconds. */
export function waitMsAfter(failures: number): number {
  return WAITS_MS[Math.min(failures, WAITS_MS.length - 1)] as number;
}

const worker: Peer = {
  ended: 'the worker has ended; another one is being started',
  unreachable: (why) => `the worker cannot be started: ${why}; reload the page`,
  waitMs: waitMsAfter,
};

/** The cluster of a page, whose life is given. */
export function connectTab(options: ConnectWorkerOptions, page: TabPage): WorkerCluster {
  const hosts = hostsOf(options);
  if (hosts.length === 0) {
    throw new TypeError('connectWorker: pass shared, dedicated or page');
  }
  return connectPeer('connectWorker', { ...options, hosts, peer: worker, page });
}

/** What a cluster is connected with, besides the options of its user. */
export interface PeerOptions
  extends Pick<ConnectWorkerOptions, 'identity' | 'credentials' | 'lingerMs' | 'scheduler'> {
  readonly hosts: readonly StartHost[];
  readonly peer: Peer;
  readonly page: TabPage;
}

/** The cluster of a page that asks a worker, or a server. */
export function connectPeer(where: string, options: PeerOptions): WorkerCluster {
  const { identity, credentials, scheduler = asyncScheduler, lingerMs = 30_000 } = options;
  const { hosts, peer, page } = options;
  checkIdentity(where, identity);
  checkedDuration(lingerMs, `${where}: lingerMs`);
  const views = new Map<string, AskedView>();
  /** Forget the views without subscribers, which keep their rows for the linger. A query may have several. */
  const forgets = new Set<() => void>();
  const dropped = () => {
    for (const forget of [...forgets]) forget();
  };
  const tab: Tab = new Tab({ hosts, peer, identity, credentials, page, scheduler, dropped });
  const view = (given: LiveQuery | WorkerQuery): AskedView => {
    const { query, key } = carryQuery(`${where}: view`, given);
    const known = views.get(key);
    if (known !== undefined) return known;
    let linger = Subscription.EMPTY;
    const forget = () => {
      forgets.delete(forget);
      made.clear(NO_VIEW_STATUS);
      if (views.get(key) === made) views.delete(key);
    };
    const rest = () => {
      forgets.add(forget);
      linger = looseTimer(lingerMs, scheduler, forget);
    };
    const made: AskedView = new AskedView(query, {
      scheduler,
      heardMs: () => tab.link.heardMs,
      ask: () => {
        linger.unsubscribe();
        forgets.delete(forget);
        views.set(key, made);
        tab.ask(made);
      },
      leave: () => {
        tab.leave(made);
        rest();
      },
    });
    views.set(key, made);
    rest();
    return made;
  };
  const cluster: WorkerCluster = {
    view: view as WorkerCluster['view'],
    connection$: tab.link.connection$.asObservable(),
    get connection() {
      return tab.link.connection;
    },
    signedIn: (name) => {
      checkIdentity('signedIn', name ?? '');
      tab.identify(name);
    },
    signedOut: () => tab.identify(undefined),
    close: () => tab.link.close(),
  };
  tabs.set(cluster, tab);
  return cluster;
}

/**
 * Connects a page to the worker that answers its queries ({@link serveQueries}). All pages of an origin share a
 * SharedWorker, so that there is one watch and one pipeline for equal queries, whatever the number of tabs. Give the hosts
 * as literals, because bundlers look for `new SharedWorker(new URL('./file', import.meta.url))`. They are tried in the order
 * `shared`, `dedicated`, `page`.
 *
 * A worker that has died is started again, and every query is asked again. Views keep their rows meanwhile, with `stale: true`. If
 * no worker can be started, for example after a deployment, views say so and the page must be reloaded.
 *
 * Throws a `TypeError` on an invalid option.
 *
 * @example
 * ```ts no-run
 * import { liveQuery } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { connectWorker } from 'rx-informer/worker';
 *
 * const cluster = connectWorker({
 *   identity: 'user-7',
 *   shared: () => new SharedWorker(new URL('./cluster.worker.ts', import.meta.url), { type: 'module' }),
 * });
 * const view = cluster.view(liveQuery({ from: pods, select: { name: 'metadata.name' } }));
 * view.subscribe(() => console.log(view.getSnapshot().rows));
 * ```
 */
export function connectWorker(options: ConnectWorkerOptions): WorkerCluster {
  return connectTab(options, thisPage(options.scheduler));
}
