/** Through an HTTP proxy and a SOCKS proxy, both on loopback, to a server that speaks HTTP/2. */
import { createServer as createHttp } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { createUndiciTransport } from 'rx-informer/node';
import { afterEach, expect, it } from 'vitest';
import { watch } from './seen.ts';
import { listen, opened } from './servers.ts';
import { testOnlyCa } from './test-only-certificates.ts';

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function through(proxy: string, closeProxy: () => Promise<void>) {
  const server = await listen('http2', (request, response) => response.end(request.url));
  const transport = createUndiciTransport({ baseUrl: server.url, tls: { ca: testOnlyCa }, proxy });
  endings.push(server.close, closeProxy, () => transport.close());
  const request = { method: 'GET', path: '/version', use: 'call' } as const;
  const all = Array.from({ length: 3 }, () => watch(transport.send(request)));
  for (const seen of all) {
    await seen.ended;
    expect(seen.error).toBeUndefined();
    expect(seen).toMatchObject({ status: 200, text: '/version' });
  }
}

function join(a: Socket, b: Socket): void {
  a.pipe(b).pipe(a);
  for (const socket of [a, b]) socket.on('error', () => {});
  a.on('close', () => b.destroy());
  b.on('close', () => a.destroy());
}

it('tunnels through an HTTP proxy that wants a password', async () => {
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
  await through(`http://me:hunter2@127.0.0.1:${proxy.port}`, proxy.close);
  expect(asked).toEqual([`Basic ${Buffer.from('me:hunter2').toString('base64')}`]);
});

it.each(['socks5', 'socks5h'])('goes through a %s proxy', async (scheme) => {
  let tunnels = 0;
  const server = createServer((socket) => {
    // RFC 1928: no password, CONNECT to an IPv4 address.
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]));
      socket.once('data', (bytes) => {
        const host = [...bytes.subarray(4, 8)].join('.');
        const target = connect(bytes.readUInt16BE(8), host, () => {
          tunnels++;
          socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
          join(socket, target);
        }).on('error', () => socket.destroy());
      });
    });
  });
  const proxy = await opened(server, 'tcp');
  await through(`${scheme}://127.0.0.1:${proxy.port}`, proxy.close);
  expect(tunnels).toBeGreaterThan(0);
});
