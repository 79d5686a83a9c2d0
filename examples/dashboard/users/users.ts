/** The server of all users: one list and one watch for each kind, whoever looks, and each user sees what the API server lets the user read. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createClient, createInformerFactory, type KubeClient } from 'rx-informer';
import { roleBindings } from 'rx-informer/resources';
import { accessReviews, serveUsers, socketPort, tokenReviews } from 'rx-informer/server';
import { WebSocketServer } from 'ws';
import { eventsByObject } from '../page/worker/detail-queries.ts';
import { servedKinds, servedQueries } from '../page/worker/served-queries.ts';

export interface DashboardUsersOptions {
  /** Lists and watches the kinds, and reviews tokens and rights. */
  readonly client: KubeClient;
  /** A client of the same cluster without credentials, to which those of a user are added. */
  readonly anonymous: KubeClient;
  readonly allowEdits: boolean;
  /** How long a watch may be silent, in milliseconds. @defaultValue that of the library */
  readonly idleTimeoutMs?: number | undefined;
  /** Receives the errors of the server. */
  report(error: unknown): void;
}

export interface DashboardUsers {
  /** How many pages are connected. */
  count(): number;
  /** The name of the user of a request; `undefined` if its token is of nobody. Rejects if that cannot be found out. */
  nameOf(request: IncomingMessage): Promise<string | undefined>;
  /** Serves the page behind a socket. */
  connect(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): Promise<void>;
}

const BEARER = /^Bearer (\S+)$/i;

export async function serveDashboardUsers(options: DashboardUsersOptions): Promise<DashboardUsers> {
  const { client, anonymous, allowEdits, report, idleTimeoutMs } = options;
  const factory = createInformerFactory(client, {
    ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
    resources: [eventsByObject],
  });
  const review = tokenReviews(client);
  /** The last token of each user, by name. */
  const tokens = new Map<string, string>();
  const clientOf = (name: string) => {
    const { baseUrl } = anonymous;
    const headers = { authorization: `Bearer ${tokens.get(name)}` };
    return createClient({ baseUrl, headers, transport: anonymous });
  };
  const users = serveUsers({
    ...{ factory, kinds: servedKinds, queries: servedQueries, onUnhandledError: report },
    rights: accessReviews(client, { bindings: factory.informer(roleBindings) }),
    edits: allowEdits ? ({ name }) => clientOf(name) : undefined,
  });
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 65_536 });
  factory.start();
  return {
    count: () => users.counts.connections,
    async nameOf({ headers }) {
      const [, token] = BEARER.exec(headers.authorization ?? '') ?? [];
      return token && (await review({ credentials: { token }, identity: '' }))?.name;
    },
    connect(request, socket, head) {
      sockets.handleUpgrade(request, socket, head, (opened) => {
        users.connect(socketPort(opened), {
          ...{ request, address: request.socket.remoteAddress },
          async signIn(first) {
            const user = await review(first);
            const { token } = first.credentials as { readonly token: string };
            if (user !== undefined) tokens.set(user.name, token);
            return user;
          },
        });
      });
    },
    async close() {
      users.drain();
      await factory.stop();
    },
  };
}
