/** Servers on loopback that each fail in one way, for clients that connect to them. */
import { createServer as createHttps } from 'node:https';
import { createServer, type Socket } from 'node:net';
import type { TlsOptions } from 'rx-informer/node';
import { opened, type TestServer } from './servers.ts';
import {
  testOnlyCa,
  testOnlyExpired,
  testOnlySelfSigned,
  testOnlyServerCert,
  testOnlyServerKey,
} from './test-only-certificates.ts';

/** A server that fails, and the TLS options of its client. */
export interface Failure {
  open(): Promise<TestServer>;
  /** The TLS options of the client. */
  readonly tls?: TlsOptions;
}

const onSocket = (scheme: string, serve: (socket: Socket) => void): Failure => ({
  open: () => opened(createServer(serve), scheme),
});

const withCertificate = (cert: string, key: string, tls?: TlsOptions): Failure => ({
  open: () => {
    const server = createHttps({ cert, key }, (_, response) => response.end('{}'));
    return opened(
      server.on('tlsClientError', () => {}),
      'https',
    );
  },
  ...(tls === undefined ? {} : { tls }),
});

const HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a":';

/** The port was in use and is closed. */
export const refused: Failure = {
  async open() {
    const server = await opened(createServer(), 'http');
    await server.close();
    return { ...server, close: async () => {} };
  },
};
export const unknownHost: Failure = {
  open: async () => ({
    ...{ url: 'http://no-such-host.invalid:6443', port: 6443, connections: 0, drop: () => {} },
    close: async () => {},
  }),
};
export const closedBeforeHead: Failure = onSocket('http', (socket) => {
  socket.once('data', () => socket.destroy());
});
export const resetBeforeHead: Failure = onSocket('http', (socket) => {
  socket.once('data', () => socket.resetAndDestroy());
});
export const closedInBody: Failure = onSocket('http', (socket) => {
  socket.once('data', () => socket.write(HEAD, () => setImmediate(() => socket.destroy())));
});
export const silent: Failure = onSocket('http', () => {});
export const plainOnTlsPort: Failure = onSocket('https', (socket) => {
  socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
});
export const unknownCa: Failure = withCertificate(testOnlyServerCert, testOnlyServerKey);
export const selfSignedChain: Failure = withCertificate(
  `${testOnlyServerCert}${testOnlyCa}`,
  testOnlyServerKey,
);
export const selfSigned: Failure = withCertificate(testOnlySelfSigned.cert, testOnlySelfSigned.key);
export const expired: Failure = withCertificate(testOnlyExpired.cert, testOnlyExpired.key, {
  ca: testOnlyExpired.cert,
});
export const otherHost: Failure = withCertificate(testOnlyServerCert, testOnlyServerKey, {
  ...{ ca: testOnlyCa, servername: 'other.test' },
});
