/** The cluster of a page, whoever answers its queries. */
import { asyncScheduler, Subscription } from 'rxjs';
import { checkedDuration, checkedName, refusal } from '../../checks/checked-option.ts';
import type { LiveQuery } from '../../query/live-query/live-query.ts';
import { NO_VIEW_STATUS } from '../../query/view/view.ts';
import { looseTimer } from '../../rx/long-timer.ts';
import { carryQuery, type WorkerQuery } from '../carried-query.ts';
import { AskedView } from './asked-view.ts';
import { hostsOf, type StartHost } from './hosts.ts';
import type { TabPage } from './page-life.ts';
import { Tab } from './tab.ts';
import type { ConnectWorkerOptions, WorkerCluster } from './worker-cluster.ts';
import type { Peer } from './worker-link.ts';

function checkIdentity(where: string, identity: unknown): void {
  if (identity === undefined) return;
  checkedName(identity, `${where}: identity`, 'a name, or undefined');
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
  const { identity, scheduler = asyncScheduler, lingerMs = 30_000 } = options;
  checkIdentity(where, identity);
  checkedDuration(lingerMs, `${where}: lingerMs`);
  const views = new Map<string, AskedView>();
  /** Forget the views without subscribers, which keep their rows for the linger. A query may have several. */
  const forgets = new Set<() => void>();
  const dropped = () => {
    for (const forget of forgets) forget();
  };
  const tab: Tab = new Tab({ ...options, scheduler, dropped });
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
