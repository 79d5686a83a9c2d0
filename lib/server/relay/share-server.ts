/** `shareServer`, with which all tabs of a browser share one connection to a server. */
import { asyncScheduler, NEVER } from 'rxjs';
import { checkedFunction, ifGiven } from '../../checks/checked-option.ts';
import type { Credentials } from '../../worker/messages.ts';
import type { ServedQueries } from '../../worker/server/serve-queries.ts';
import { serveTabs, type TabsParts } from '../../worker/server/worker-scope.ts';
import { connectTabs, RelayedSession, type ServerAddress } from './relayed-session.ts';

/** Options of {@link shareServer}. */
export interface ShareServerOptions extends ServerAddress {
  /**
   * Returns what `signIn` of the server receives, where the worker can fetch it. Asked as that of {@link connectServer}.
   * @defaultValue the tabs are asked, which are connected with `credentials`
   */
  readonly credentials?:
    | ((session: { readonly identity: string }) => Credentials | Promise<Credentials>)
    | undefined;
}

/** How long all tabs are hidden before the worker is for the server, in milliseconds: another tab may be shown at once. */
const HIDDEN_MS = 1_000;
/** How long one tab may take to give credentials, in milliseconds: less than the server has to answer. */
const CREDENTIALS_MS = 4_000;

/** Throws a `TypeError` if no page could be connected: one of nobody, which opens no socket. */
function checkAddress(address: ServerAddress): void {
  const nobody = { identity: undefined, credentials: () => ({}) };
  try {
    connectTabs(address, nobody, { isHidden: () => true, changes$: NEVER }).close();
  } catch (error) {
    // Here, so that pages of `connectServer` do not load a second name.
    throw new TypeError((error as Error).message.replace('connectServer', 'shareServer'));
  }
}

/** The parts with which `serveTabs` serves tabs that a server answers. */
export function relayParts(options: ShareServerOptions): TabsParts {
  const { credentials, scheduler = asyncScheduler, ...rest } = options;
  const must = '(session) => what signIn receives';
  ifGiven(checkedFunction, credentials, 'shareServer: credentials', must);
  const address = { ...rest, scheduler };
  checkAddress(address);
  return {
    scheduler,
    hiddenGraceMs: HIDDEN_MS,
    credentialsTimeoutMs: CREDENTIALS_MS,
    begin: (beginning) => new RelayedSession({ ...beginning, address, credentials, scheduler }),
  };
}

/**
 * Answers the queries of all tabs from a server ({@link serveUsers}), over one WebSocket. Call it once, in the file of a SharedWorker,
 * before any `await`, and connect with `connectWorker` of `rx-informer/worker` in the page.
 *
 * For the server the worker is one page, with the limits of one: equal queries of all tabs are asked once, at most 1,000, and nothing is
 * sent while all tabs are hidden. All tabs have one identity: a sign-out or another identity in one tab ends the connection and drops
 * the rows of all, and so does a server that no longer accepts the credentials. Give `connectWorker` also `page`, for browsers without
 * SharedWorker.
 *
 * Throws a `TypeError` on an invalid option.
 *
 * @example
 * ```ts
 * import { shareServer } from 'rx-informer/server';
 *
 * const served = shareServer({ url: 'wss://dashboard.example.com/queries' });
 * served.counts; // => { tabs: 0, pipelines: 0 }
 * ```
 */
export function shareServer(options: ShareServerOptions): ServedQueries {
  return serveTabs(relayParts(options));
}
