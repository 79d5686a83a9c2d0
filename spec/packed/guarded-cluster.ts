/** A fake API server behind TLS that asks for a token or a client certificate, and whose connections can be lost. */
import type { TLSSocket } from 'node:tls';
import { createFakeApiServer, createTcpProxy, type FakeApiServer } from 'rx-informer/testing';
import { forward } from '../faults/http2-front.ts';
import { listen } from '../node/servers.ts';

/** A request that was allowed. */
export interface Allowed {
  /** `certificate NAME` or `token TEXT`. */
  readonly user: string;
  /** '1.1' or '2.0' */
  readonly httpVersion: string;
}

export interface GuardedCluster extends AsyncDisposable {
  readonly server: FakeApiServer;
  readonly port: number;
  /** The tokens that are accepted. */
  readonly tokens: Set<string>;
  readonly allowed: readonly Allowed[];
  /** The number of requests that were refused with a 401. */
  readonly refused: number;
  /** Loses all connections, and refuses new ones until the returned function is called. */
  stop(): () => void;
}

const UNAUTHORIZED = JSON.stringify({
  ...{ kind: 'Status', apiVersion: 'v1', status: 'Failure' },
  ...{ code: 401, reason: 'Unauthorized', message: 'Unauthorized' },
});

/** Starts the cluster. Its certificates are those of `spec/node/test-only-certificates.ts`. */
export async function guardedCluster(
  protocol: 'https' | 'http2',
  server: FakeApiServer = createFakeApiServer(),
): Promise<GuardedCluster> {
  const served = await server.serve();
  const tokens = new Set<string>();
  const allowed: Allowed[] = [];
  let refused = 0;
  const guard = await listen(
    protocol,
    (request, response) => {
      const socket = request.socket as TLSSocket;
      const certified = socket.authorized && socket.getPeerCertificate().subject.CN;
      const token = /^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
      if (certified || tokens.has(token)) {
        const user = certified ? `certificate ${certified}` : `token ${token}`;
        allowed.push({ user, httpVersion: request.httpVersion });
        forward(request, response, served.url);
        return;
      }
      refused++;
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(UNAUTHORIZED);
    },
    { clientCertificates: 'any', allowHttp1: true },
  );
  const proxy = await createTcpProxy({ target: guard.url });
  return {
    server,
    port: proxy.port,
    tokens,
    allowed,
    get refused() {
      return refused;
    },
    stop() {
      const refusal = proxy.refuse();
      proxy.drop();
      return () => refusal.heal();
    },
    async [Symbol.asyncDispose]() {
      await proxy.close();
      await guard.close();
      await served.close();
    },
  };
}
