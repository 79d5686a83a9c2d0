/** Tests a server of users over real sockets: an HTTP server of Node, the package ws, and the WebSocket of a browser. */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { createClient, createInformerFactory, liveQuery } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import {
  connectServer,
  type SocketLike,
  serveUsers,
  socketPort,
  tokenReviews,
  type UserPort,
} from 'rx-informer/server';
import { createFakeApiServer } from 'rx-informer/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';

type Upgraded = (socket: SocketLike & { terminate(): void }, request: never) => void;
interface SocketServer {
  on(event: 'connection', listener: Upgraded): void;
  close(): void;
}
const { WebSocketServer } = createRequire(import.meta.url)('ws') as {
  WebSocketServer: new (options: object) => SocketServer;
};

const query = liveQuery({
  from: pods,
  select: { name: 'metadata.name', namespace: 'metadata.namespace' },
  orderBy: { path: 'metadata.name' },
});

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function rig() {
  const api = createFakeApiServer({
    users: { 't-ann': { name: 'ann' }, 't-own': { name: 'own' } },
    allows: () => true,
  });
  const clientOf = (token: string) =>
    createClient({
      ...{ baseUrl: 'http://fake', fetch: api.fetch },
      headers: { authorization: `Bearer ${token}` },
    });
  const users = serveUsers({ createFactory: () => createInformerFactory(clientOf('t-ann')) });
  const server = createServer();
  const sockets = new WebSocketServer({ server, path: '/queries', maxPayload: 65_536 });
  const open: { terminate(): void }[] = [];
  const signIn = tokenReviews(clientOf('t-own'));
  sockets.on('connection', (socket, request) => {
    open.push(socket);
    users.connect(socketPort(socket), { request, signIn });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `ws://127.0.0.1:${port}/queries`;
  ends.push(() => {
    users.drain();
    sockets.close();
    server.close();
  });
  const page = (token: string) => {
    const cluster = connectServer({ url, identity: token, credentials: () => ({ token }) });
    ends.push(() => cluster.close());
    return cluster;
  };
  const raw = (options: { headers?: Record<string, string> } = {}) =>
    new WebSocket(url, options as never);
  return { api, users, page, raw, open, url };
}

const closed = (socket: WebSocket) =>
  new Promise<number>((resolve) => {
    socket.onclose = ({ code }) => resolve(code);
  });

describe('users over WebSockets', () => {
  it('E5, E6: a page shows its rows and their changes, and again after its socket was torn', async () => {
    const { api, users, page, open } = await rig();
    api.objects.create(pods, { metadata: { namespace: 'a', name: 'web' } });
    const cluster = page('t-ann');
    const view = cluster.view(query);
    ends.push(view.subscribe(() => undefined));
    const names = () => view.getSnapshot().rows.map(({ name }) => name);
    await eventually(() => expect(names()).toEqual(['web']));
    expect(cluster.connection).toMatchObject({ phase: 'open', host: 'server' });
    api.objects.create(pods, { metadata: { namespace: 'a', name: 'api' } });
    await eventually(() => expect(names()).toEqual(['api', 'web']));
    open[0]?.terminate();
    await eventually(() => expect(view.getSnapshot().stale).toBe(true));
    expect(names()).toEqual(['api', 'web']);
    api.objects.delete(pods, { namespace: 'a', name: 'web' });
    await eventually(() => expect([names(), view.getSnapshot().synced]).toEqual([['api'], true]));
    expect(users.counts).toEqual({ users: 1, connections: 1, signingIn: 0 });
  });

  it('E2: an answer of some megabytes arrives in parts, and whole', async () => {
    const { api, page } = await rig();
    for (let at = 0; at < 2_000; at++) {
      const labels = { text: 'x'.repeat(1_000) };
      api.objects.create(pods, { metadata: { namespace: 'a', name: `p${at}`, labels } });
    }
    const large = liveQuery({ from: pods, select: { text: 'metadata.labels.text' } });
    const view = page('t-ann').view(large);
    ends.push(view.subscribe(() => undefined));
    await eventually(() => expect(view.getSnapshot().synced).toBe(true));
    const { rows, total } = view.getSnapshot();
    expect([rows.length, total, rows.every(({ text }) => text?.length === 1_000)]).toEqual([
      2_000,
      2_000,
      true,
    ]);
  });

  it('E7, E9: nobody, and whoever sends no JSON, is sent away with a code', async () => {
    const { raw } = await rig();
    const hello = { type: 'hello', protocol: 2, identity: 'x', isHidden: false };
    const nobody = raw();
    nobody.onopen = () => nobody.send(JSON.stringify({ ...hello, credentials: { token: 'none' } }));
    const text = raw();
    text.onopen = () => text.send('hello');
    const bytes = raw();
    bytes.onopen = () => bytes.send(new Uint8Array([1, 2, 3]));
    expect(await Promise.all([nobody, text, bytes].map(closed))).toEqual([4401, 4400, 4400]);
  });

  it('E5: a page shows its rows over the ports of a program', async () => {
    const { api, users } = await rig();
    api.objects.create(pods, { metadata: { namespace: 'a', name: 'web' } });
    const portOf = (port: MessagePort): UserPort => ({
      post: (message) => port.postMessage(message),
      listen: (listener) => {
        port.onmessage = ({ data }) => listener(data);
      },
      close: () => port.close(),
    });
    const port = () => {
      const { port1, port2 } = new MessageChannel();
      users.connect(portOf(port2), { request: null, signIn: () => ({ name: 'me' }) });
      return portOf(port1);
    };
    const cluster = connectServer({ port, identity: 'me', credentials: () => ({}) });
    const view = cluster.view(query);
    const leave = view.subscribe(() => undefined);
    await eventually(() =>
      expect(view.getSnapshot().rows.map(({ name }) => name)).toEqual(['web']),
    );
    leave();
    cluster.close();
    await eventually(() => expect(users.counts.connections).toBe(0));
  });
});
