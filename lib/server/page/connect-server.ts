/** `connectServer`, which asks a server for the answers of queries. */
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { switchMap } from 'rxjs/operators';
import { checkedFunction, ifGiven, refusal } from '../../checks/checked-option.ts';
import { NO_VIEW_STATUS } from '../../query/view/view.ts';
import { inTurn } from '../../rx/drain.ts';
import { longInterval } from '../../rx/long-timer.ts';
import { type EpochMs, timingOf } from '../../rx/timing.ts';
import type { Credentials } from '../../worker/messages.ts';
import { connectPeer, tabOf, waitMsAfter } from '../../worker/page/connect-peer.ts';
import { type TabPage, thisPage } from '../../worker/page/page-life.ts';
import type { WorkerCluster } from '../../worker/page/worker-cluster.ts';
import { type SocketLike, socketPort, type UserPort } from '../socket-port.ts';
import { socketHost } from './socket-host.ts';

/** Options of {@link connectServer}. */
export interface ConnectServerOptions {
  /** The address of the socket: `wss://…`, or of a page's own server `/queries`. */
  readonly url?: string | URL | undefined;
  /** In place of `url`: makes a port to the server, such as one of an Electron program. Called for each connection. */
  readonly port?: (() => UserPort) | undefined;
  /** Who is signed in, such as the id of the user; `undefined` while nobody is. Rows of one identity are never shown under another one. */
  readonly identity: string | undefined;
  /**
   * Returns what `signIn` of the server receives, such as `{ token }`. It goes in the first message, never in the address, and is asked
   * for again with each connection, and before it ends.
   */
  readonly credentials: () => Credentials | Promise<Credentials>;
  /** How long the rows of a view stay after its last subscriber has left, in milliseconds. @defaultValue 30000 */
  readonly lingerMs?: number | undefined;
  /** Makes the socket, in programs without a global `WebSocket`. @defaultValue `new WebSocket(url)` */
  readonly webSocket?: ((url: string) => SocketLike) | undefined;
  /** @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
  /** Spreads the reconnects of many pages. @defaultValue `Math.random` */
  readonly random?: (() => number) | undefined;
}

/** How long rows are shown that no server keeps right, and how often that is checked, in milliseconds. */
const SHOWN_MS = 600_000;
const CHECK_MS = 5_000;
/** Over which time the reconnects of pages are spread, in milliseconds. */
const SPREAD_MS = 2_000;

function addressOf(url: string | URL): string {
  const page = (globalThis as { readonly location?: { readonly href: string } }).location?.href;
  const must = 'an address such as wss://example.com';
  let address: URL;
  try {
    address = new URL(url, page);
  } catch {
    throw refusal('connectServer: url', url, must);
  }
  address.protocol = address.protocol.replace(/^http/, 'ws');
  if (!/^wss?:$/.test(address.protocol)) throw refusal('connectServer: url', url, must);
  // Not shown in the error.
  if (address.username !== '' || address.password !== '') {
    throw new TypeError('connectServer: url has a user or a password; pass credentials');
  }
  return address.href;
}

/**
 * Connects a page to a server that answers its queries ({@link serveUsers}), over one WebSocket. The cluster is that of
 * {@link connectWorker}: views, and the hooks of `rx-informer/react/worker` below a `WorkerProvider`.
 *
 * While the server is away, rows stay, `stale: true`, and are dropped after ten minutes; the page connects again, and pages spread their
 * tries over two seconds. A server that is silent is noticed within 20 seconds. If the server no longer accepts the credentials, the
 * rows are dropped at once, and the phase is `signed-out` until `signedIn(identity)`.
 *
 * Throws a `TypeError` on an invalid option.
 *
 * @example
 * ```ts no-run
 * import { liveQuery } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { connectServer } from 'rx-informer/server';
 *
 * const cluster = connectServer({
 *   url: '/queries',
 *   identity: 'user-7',
 *   credentials: async () => ({ token: 'the token of the session' }),
 * });
 * const view = cluster.view(liveQuery({ from: pods, select: { name: 'metadata.name' } }));
 * view.subscribe(() => console.log(view.getSnapshot().rows));
 * ```
 */
export function connectServer(options: ConnectServerOptions): WorkerCluster {
  return connectPage(options, thisPage(options.scheduler));
}

/** Connects a page whose life is given. */
export function connectPage(options: ConnectServerOptions, page: TabPage): WorkerCluster {
  const { identity, credentials, lingerMs, scheduler = asyncScheduler, url, port } = options;
  const { webSocket = (address: string) => new WebSocket(address) as SocketLike } = options;
  checkedFunction(credentials, 'connectServer: credentials', '() => what signIn receives');
  checkedFunction(webSocket, 'connectServer: webSocket', '(url) => new WebSocket(url)');
  if ((url === undefined) === (port === undefined)) {
    throw new TypeError('connectServer: pass url or port');
  }
  ifGiven(checkedFunction, port, 'connectServer: port', '() => a port');
  const address = url === undefined ? '' : addressOf(url);
  const { random } = timingOf(options);
  const cluster = connectPeer('connectServer', {
    ...{ identity, credentials, lingerMs, scheduler },
    hosts: [socketHost({ open: port ?? (() => socketPort(webSocket(address))), credentials })],
    peer: {
      ended: 'the server does not answer; the page connects again',
      unreachable: (why) => `the server cannot be reached: ${why}; the page connects again`,
      waitMs: (failures) => waitMsAfter(failures) + random() * SPREAD_MS,
    },
    // Its death is noticed by pings, not by a lock of the browser.
    page: { ...page, whenFree: undefined },
  });
  const tab = tabOf(cluster);
  const expire = () => {
    const untilMs = scheduler.now() - SHOWN_MS;
    for (const view of tab.views.values()) {
      // Absent while the rows are right, and less than nothing.
      if (untilMs >= (view.sinceMs as EpochMs)) {
        view.clear(NO_VIEW_STATUS);
        // A server that has sent a part of its answer begins it again.
        tab.leave(view);
        tab.ask(view);
      }
    }
  };
  cluster.connection$
    .pipe(switchMap(({ phase }) => (phase === 'left' ? [] : longInterval(CHECK_MS, scheduler))))
    .subscribe(() => inTurn(expire));
  return cluster;
}
