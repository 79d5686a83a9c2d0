/** The dashboard's web server: guards, the page, the proxy, and the controls of the embedded cluster. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EmbeddedCluster } from './embedded-cluster.ts';
import type { ClusterProxy } from './proxy.ts';
import type { ProxyRules } from './server/allowed-requests.ts';
import { answerJson, answerText } from './server/answer.ts';
import { refusal } from './server/guard.ts';
import { PageClients } from './server/page-clients.ts';
import type { PageFiles } from './server/page-files.ts';
import { contextIn, control, readMessage } from './server/page-messages.ts';
import type { ServedKinds } from './server/served-kinds.ts';
import type { DashboardInfo } from './shared/messages.ts';
import type { DashboardUsers } from './users/users.ts';

const NOT_UNDERSTOOD = 'This request cannot be understood.';
const OTHER_CONTEXT = 'This dashboard shows another context now; reload the page.';
/** The path before those of the API, for pages of a context that was chosen in the page. */
const BASE = /^\/context\/\d+(?=\/apis?\/)/;

/** The cluster that a dashboard shows, and the page that is made for it. */
export interface ServedCluster {
  readonly proxy: ClusterProxy;
  readonly files: PageFiles;
  /** The kinds that the page does not know by itself. */
  readonly kinds?: Pick<ServedKinds, 'refresh'>;
  readonly cluster: string;
  /** The context of the kubeconfig, if it is known. */
  readonly context?: string | undefined;
}

export interface Contexts {
  list(): Promise<readonly string[]>;
  /** Connects to a context, and ends the connection to the former one. `base`: the path before those of the API. */
  choose(context: string, base: string): Promise<ServedCluster>;
}

export interface DashboardServerOptions extends ServedCluster {
  /** @defaultValue the page cannot choose */
  readonly contexts?: Contexts | undefined;
  readonly embedded?: EmbeddedCluster;
  /** The users who sign in. @defaultValue nobody does, and whoever opens the page sees what the dashboard sees */
  readonly users?: DashboardUsers | undefined;
  /** The restrictions of the proxy, as the page must know them. */
  readonly rules?: ProxyRules;
  /** 0: any free port. */
  readonly port: number;
}

export interface DashboardServer {
  readonly port: number;
  readonly url: string;
  readonly pages: PageClients;
  close(): Promise<void>;
}

function infoOf(
  { embedded, users, rules, contexts }: DashboardServerOptions,
  { cluster, context }: ServedCluster,
): DashboardInfo {
  return {
    cluster,
    ...(context && { context }),
    ...(contexts && { hasContexts: true }),
    ...(rules?.namespace && { namespace: rules.namespace }),
    ...(rules?.readOnly && { readOnly: true }),
    ...(embedded && !users && { embedded: { pods: embedded.pods, rate: embedded.rate } }),
  };
}

/** Answers who the user of a request is. */
async function answerUser(
  users: DashboardUsers,
  request: IncomingMessage,
  response: ServerResponse,
) {
  try {
    const name = await users.nameOf(request);
    if (name !== undefined) answerJson(response, 200, { name });
    else answerText(response, 401, 'This token is of nobody, or has ended.');
  } catch {
    answerText(response, 502, 'The cluster does not say whose token this is; try again.');
  }
}

/** Serves the dashboard on 127.0.0.1. Rejects if the port is taken. */
export async function serveDashboard(options: DashboardServerOptions): Promise<DashboardServer> {
  const { users, contexts } = options;
  // No user controls the cluster of all.
  const embedded = users === undefined ? options.embedded : undefined;
  let shown: ServedCluster = options;
  let base = '';
  let turn = 0;
  const pages = new PageClients();
  let port = options.port;

  let choosing = Promise.resolve();
  /** Shows another context. A request of a page of the former one never reaches it, because it has another path. */
  function choose(context: string): Promise<void> {
    const chosen = choosing.then(async () => {
      const next = `/context/${++turn}`;
      shown = (await contexts?.choose(context, next)) ?? shown;
      base = next;
    });
    choosing = chosen.catch(() => undefined);
    return chosen;
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const target = request.url ?? '';
    const refused = refusal(request, port, target === '/' || target.startsWith('/?'));
    if (refused !== undefined) return answerText(response, 403, refused);
    const url = new URL(target, 'http://dashboard');
    const { searchParams } = url;
    const [pageBase = ''] = BASE.exec(url.pathname) ?? [];
    const pathname = url.pathname.slice(pageBase.length);
    const { proxy, files, kinds } = shown;
    // A complete URL, a second slash, dots and backslashes would be resolved to another path than the one that was
    // sent.
    if (url.pathname !== target.split('?', 1)[0]) {
      return answerText(response, 400, NOT_UNDERSTOOD);
    }
    const metrics = request.method === 'GET' ? embedded?.metrics(pathname) : undefined;
    if (metrics !== undefined && proxy.allows('GET', pathname)) {
      return answerJson(response, 200, metrics);
    }
    if (proxy.owns(pathname)) {
      if (pageBase !== base) return answerText(response, 421, OTHER_CONTEXT);
      url.pathname = pathname;
      options.embedded?.prepare(pathname);
      return proxy.forward(request, response, url);
    }
    if (embedded !== undefined && pathname === '/embedded/control') {
      return void readMessage(request, response, (message) => control(embedded, message));
    }
    if (contexts !== undefined && pathname === '/dashboard/context') {
      return void readMessage(request, response, (message) => choose(contextIn(message)));
    }
    if (request.method !== 'GET') {
      return answerText(response, 405, 'This dashboard only reads.', { allow: 'GET' });
    }
    if (users !== undefined && pathname === '/dashboard/user') {
      return void answerUser(users, request, response);
    }
    if (pathname === '/dashboard/info') {
      pages.saw(searchParams.get('page') ?? '');
      return answerJson(response, 200, infoOf(options, shown));
    }
    if (contexts !== undefined && pathname === '/dashboard/contexts') {
      const list = contexts.list().catch(() => []);
      return void list.then((names) => answerJson(response, 200, { contexts: names }));
    }
    if (kinds !== undefined && pathname === '/dashboard/kinds') {
      return void kinds.refresh().then(
        (served) => answerJson(response, 200, served),
        () => answerText(response, 502, 'The cluster does not say which kinds it serves.'),
      );
    }
    if (embedded !== undefined && pathname === '/embedded/truth') {
      const version = searchParams.get('resourceVersion') ?? '';
      return answerJson(response, 200, embedded.truth(version));
    }
    if (!files(pathname, response)) answerText(response, 404, 'There is nothing here.');
  }

  const server = createServer((request, response) => {
    try {
      answer(request, response);
    } catch {
      // The path is not a valid URL, or contains an invalid escape.
      if (!response.headersSent) answerText(response, 400, NOT_UNDERSTOOD);
      else response.destroy();
    }
  });
  // A page may send its next request on a connection while this server would close it after five idle seconds.
  server.keepAliveTimeout = 60_000;
  // Others are refused, because watches use fetch.
  server.on('upgrade', (request, socket, head) => {
    if (users === undefined || request.url !== '/queries') socket.destroy();
    else if (refusal(request, port) !== undefined) socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    else users.connect(request, socket, head);
  });
  // Rejects with the error of the server, if the port is taken.
  await once(server.listen(options.port, '127.0.0.1'), 'listening');
  ({ port } = server.address() as AddressInfo);
  return {
    port,
    url: `http://127.0.0.1:${port}/`,
    pages,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
