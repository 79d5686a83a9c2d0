/** Requests through an HTTP proxy and a SOCKS proxy, both on loopback, to a server that supports HTTP/2. */
import { createServer as createHttp } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import type { Transport } from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/patience.ts';
import { watch } from './seen.ts';
import { type Handler, listen, opened } from './servers.ts';
import { testOnlyCa } from './test-only-certificates.ts';

async function through(proxy: string, closeProxy: () => Promise<void>) {
  const came: unknown[] = [];
  const handler: Handler = ({ url, httpVersion, rawHeaders }, response) => {
    came.push([
      httpVersion,
      rawHeaders.filter((_, at, all) => /^x-twice$/i.test(all[at - 1] ?? '')),
    ]);
    response.end(url);
  };
  const server = await listen('http2', handler, { allowHttp1: true });
  onTestFinished(server.close);
  onTestFinished(closeProxy);
  const options = { baseUrl: server.url, tls: { ca: testOnlyCa }, proxy };
  const send = async (transport: Transport) => {
    onTestFinished(() => transport.close());
    const request = { method: 'GET', path: '/version', use: 'call' } as const;
    const all = Array.from({ length: 3 }, () => watch(transport.send(request)));
    for (const seen of all) {
      await seen.ended;
      expect(seen.error).toBeUndefined();
      expect(seen).toMatchObject({ status: 200, text: '/version' });
    }
  };
  await send(createUndiciTransport(options));
  expect(came.splice(0)).toEqual(Array(3).fill(['2.0', []]));
  // T15: a header line for each value, which needs HTTP/1.1.
  await send(createUndiciTransport({ ...options, repeatedHeaders: { 'x-twice': ['a', 'b'] } }));
  expect(came).toEqual(Array(3).fill(['1.1', ['a', 'b']]));
}

function join(a: Socket, b: Socket): void {
  a.pipe(b).pipe(a);
  for (const socket of [a, b]) socket.on('error', () => {});
  a.on('close', () => b.destroy());
  b.on('close', () => a.destroy());
}

it.each(['', '/', '/path'])(
  'T15: requests pass through an HTTP proxy that requires a password, whatever its path (%j)',
  async (path) => {
    const asked: (string | undefined)[] = [];
    const server = createHttp().on('connect', (request, socket: Socket) => {
      asked.push(request.headers['proxy-authorization']);
      const [host = '', port] = (request.url ?? '').split(':');
      const target = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        join(socket, target);
      });
    });
    const proxy = await opened(server, 'http');
    await through(`http://me:hunter2@127.0.0.1:${proxy.port}${path}`, proxy.close);
    // One tunnel over HTTP/2, and one for each request over HTTP/1.1.
    expect(asked).toEqual(Array(4).fill(`Basic ${Buffer.from('me:hunter2').toString('base64')}`));
  },
);

/** A SOCKS proxy without a password, which connects to IPv4 addresses (RFC 1928). */
async function socksProxy() {
  const seen = { tunnels: 0, open: 0 };
  const server = createServer((socket) => {
    seen.open++;
    socket.on('close', () => seen.open--);
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]));
      socket.once('data', (bytes) => {
        const host = [...bytes.subarray(4, 8)].join('.');
        const target = connect(bytes.readUInt16BE(8), host, () => {
          seen.tunnels++;
          socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
          join(socket, target);
        }).on('error', () => socket.destroy());
      });
    });
  });
  return { seen, ...(await opened(server, 'tcp')) };
}

it.each(['socks5', 'socks5h'])('T15: requests pass through a %s proxy', async (scheme) => {
  const proxy = await socksProxy();
  const warnings: (string | undefined)[] = [];
  const onWarning = ({ code }: { readonly code?: string }) => warnings.push(code);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  await through(`${scheme}://127.0.0.1:${proxy.port}`, proxy.close);
  expect(proxy.seen.tunnels).toBeGreaterThan(0);
  // Node 26 refuses an IP address as a name in TLS, and versions before it warn.
  expect(warnings).not.toContain('DEP0123');
});

it('T15: a request through a SOCKS proxy fails if the certificate of the client cannot be read', async () => {
  const proxy = await socksProxy();
  const server = await listen('http2', (_, response) => response.end(), {});
  const cert = `${testOnlyCa.slice(0, 200)}\n-----END CERTIFICATE-----\n`;
  const transport = createUndiciTransport({
    baseUrl: server.url,
    tls: { ca: testOnlyCa, cert, key: cert },
    proxy: `socks5://127.0.0.1:${proxy.port}`,
  });
  onTestFinished(server.close);
  onTestFinished(proxy.close);
  onTestFinished(() => transport.close());
  const seen = watch(transport.send({ method: 'GET', path: '/version', use: 'call' }));
  await seen.ended;
  expect(seen.error).toMatchObject({ reason: 'Network' });
  expect(proxy.seen.tunnels).toBeGreaterThan(0);
  await eventually(() => expect(proxy.seen.open).toBe(0));
});
