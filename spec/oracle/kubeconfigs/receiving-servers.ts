/** A TLS server, a plain server and a proxy, which respond with what they received. */
import { createServer as createHttp, request as forward, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { listen, opened, type Request, type TestServer } from '../../node/servers.ts';

/** What a server received with one request. */
export interface Received {
  readonly isSecure: boolean;
  readonly method: string;
  readonly path: string;
  readonly authority: string;
  /** The names in lower case, sorted; each value in a line of its own. */
  readonly headers: readonly string[];
  /** The fingerprint of the client's certificate. */
  readonly certificate?: string;
  /** The server name of the TLS handshake; false if there was none. */
  readonly serverName?: string | false;
  /** The `Proxy-Authorization` that the proxy received, or '' if it received none. */
  readonly proxy?: string;
}

export interface Servers {
  readonly tls: TestServer;
  readonly plain: TestServer;
  readonly proxy: TestServer;
  /** The number of requests that the servers have received. */
  received(): number;
  close(): Promise<unknown>;
}

/**
 * Headers that name the program, or that belong to the connection, and `accept-encoding`: Go asks for compression
 * unless `disable-compression` is set, and our client never does (T19).
 */
const OWN = ['user-agent', 'accept', 'accept-encoding', 'connection', 'host', 'via', 'keep-alive'];

function headersOf({ rawHeaders }: Request): readonly string[] {
  return rawHeaders
    .flatMap((name, at) =>
      at % 2 === 0 && !name.startsWith(':') ? [[name.toLowerCase(), rawHeaders[at + 1]]] : [],
    )
    .filter(([name = '']) => !OWN.includes(name))
    .map((line) => line.join(': '))
    .sort();
}

/** The credentials of each open connection of the proxy, by its two ports: connections to two servers may share one port. */
type Proxied = Map<string, string>;

/** Starts the servers. Connections from the proxy are known by their ports. */
export async function receivingServers(): Promise<Servers> {
  const proxied: Proxied = new Map();
  let received = 0;
  const receive = (isSecure: boolean) => (request: Request, response: Answering) => {
    const socket = (
      'stream' in request ? request.stream.session?.socket : request.socket
    ) as TLSSocket;
    const certificate = isSecure ? socket.getPeerCertificate().fingerprint256 : undefined;
    const proxy = proxied.get(`${socket.remotePort} ${socket.localPort}`);
    received++;
    const view: Received = {
      isSecure,
      method: request.method ?? '',
      path: request.url ?? '',
      authority: ('authority' in request && request.authority) || (request.headers.host ?? ''),
      headers: headersOf(request),
      ...(certificate === undefined ? {} : { certificate }),
      ...(isSecure
        ? { serverName: (socket as { servername?: string | false }).servername ?? false }
        : {}),
      ...(proxy === undefined ? {} : { proxy }),
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(view));
  };
  const tls = await listen('http2', receive(true), { clientCertificates: 'any', allowHttp1: true });
  const plain = await listen('http', receive(false));
  const proxy = await opened(proxyServer(proxied), 'http');
  const all = [tls, plain, proxy];
  const close = () => Promise.all(all.map((each) => each.close()));
  return { tls, plain, proxy, received: () => received, close };
}

interface Answering {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body: string): unknown;
}

/** Notes the connection of the proxy while it is open; its ports may be used again later. */
function note(proxied: Proxied, socket: Socket, credentials: string): void {
  const ports = `${socket.localPort} ${socket.remotePort}`;
  proxied.set(ports, credentials);
  socket.once('close', () => proxied.delete(ports));
}

function proxyServer(proxied: Proxied) {
  const credentialsOf = ({ headers }: IncomingMessage) => headers['proxy-authorization'] ?? '';
  const server = createHttp((asked, response) => {
    const { 'proxy-authorization': _, ...headers } = asked.headers;
    const onward = forward(asked.url ?? '', {
      method: asked.method ?? 'GET',
      headers,
      agent: false,
    });
    onward.on('socket', (socket) =>
      socket.once('connect', () => note(proxied, socket, credentialsOf(asked))),
    );
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    asked.pipe(onward);
  });
  server.on('connect', (asked, socket) => {
    const [host = '', port] = (asked.url ?? '').split(':');
    const onward = connect(Number(port), host, () => {
      note(proxied, onward, credentialsOf(asked));
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    for (const each of [onward, socket]) each.on('error', () => each.destroy());
  });
  return server;
}
