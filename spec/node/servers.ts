/** Real servers on loopback, one per protocol, which count connections and close completely. */
import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { testOnlyCa, testOnlyServerCert, testOnlyServerKey } from './test-only-certificates.ts';

export type Request = IncomingMessage | Http2ServerRequest;
/** The common part of both response types. An HTTP/2 response has a `stream`. */
export type Response =
  | ServerResponse
  | (Omit<ServerResponse, 'writeProcessing'> & Pick<Http2ServerResponse, 'stream'>);
type OnHttp2 = (request: Http2ServerRequest, response: Http2ServerResponse) => void;
export type Handler = (request: Request, response: Response) => void;

export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** The number of connections so far. */
  readonly connections: number;
  /** Ends all connections, as a network that fails. */
  drop(): void;
  /** Closes the server and all connections immediately. */
  close(): Promise<void>;
}

/** The protocols that a transport must support. */
export const protocols = ['http', 'https', 'http2'] as const;
export type Protocol = (typeof protocols)[number];

const tls = { cert: testOnlyServerCert, key: testOnlyServerKey };

/** Starts listening on a free port of loopback. With client certificates of any kind a client may also have none. */
export async function listen(
  protocol: Protocol,
  handler: Handler,
  options: { readonly clientCertificates?: boolean | 'any'; readonly allowHttp1?: boolean } = {},
): Promise<TestServer> {
  const { allowHttp1 = false } = options;
  const { clientCertificates } = options;
  const anyone = clientCertificates === 'any' ? { rejectUnauthorized: false } : {};
  const check = clientCertificates ? { requestCert: true, ca: testOnlyCa, ...anyone } : {};
  const server =
    protocol === 'http'
      ? createHttp(handler)
      : protocol === 'https'
        ? createHttps({ ...tls, ...check }, handler)
        : createSecureServer(
            { ...tls, ...check, allowHTTP1: allowHttp1 },
            handler as unknown as OnHttp2,
          );
  return opened(server, protocol === 'http' ? 'http' : 'https');
}

/** Waits until a socket server listens. */
export async function opened(server: Server, scheme: string): Promise<TestServer> {
  // Otherwise it closes an idle connection after five seconds, also if the process that sends a request on it stood still so long.
  Object.assign(server, { keepAliveTimeout: 0 });
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    port,
    drop,
    get connections() {
      return connections;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        drop();
      }),
  };
}

/** Ends the response within the body, as a crash or a lost connection does. */
export function cut(response: Response): void {
  if ('stream' in response) response.stream.session?.destroy();
  else response.socket?.destroy();
}

/** Resolves when the client closes the request before its end. */
export function gone(request: Request): Promise<void> {
  return new Promise((resolve) => {
    request.on('error', () => {}).on('aborted', () => resolve());
    if ('stream' in request) request.stream.on('close', () => resolve());
    else request.socket.on('close', () => resolve());
  });
}

/** The number of bytes that have been written. */
export interface Poured {
  readonly written: number;
}

/** Writes `total` bytes as fast as the socket accepts them, then ends the response. */
export function pour(response: Response, total: number): Poured {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const poured = { written: 0 };
  response.on('error', () => {});
  const write = () => {
    while (poured.written < total) {
      poured.written += chunk.length;
      if (!response.write(chunk)) {
        response.once('drain', write);
        return;
      }
    }
    response.end();
  };
  write();
  return poured;
}
