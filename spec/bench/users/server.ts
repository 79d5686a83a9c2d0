/** The server of the load of users: a fake API server whose Pods change, informers of each user, and sockets. */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { createClient, createInformerFactory } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { type SocketLike, serveUsers, socketPort } from 'rx-informer/server';
import { createFakeApiServer } from 'rx-informer/testing';

type Upgraded = (socket: SocketLike, request: never) => void;
const { WebSocketServer } = createRequire(import.meta.url)('ws') as {
  WebSocketServer: new (options: object) => { on(event: 'connection', listener: Upgraded): void };
};

const [count = 2_000, perSecond = 20] = process.argv.slice(2).map(Number);
const api = createFakeApiServer();
const nameOf = (at: number) => `web-${String(at).padStart(6, '0')}`;
const namespaceOf = (at: number) => `ns-${at % 20}`;
for (let at = 0; at < count; at++) {
  api.objects.create(pods, {
    metadata: { namespace: namespaceOf(at), name: nameOf(at), labels: { at: '0' } },
    spec: { nodeName: `node-${at % 50}`, containers: [{ name: 'web', image: 'web:1' }] },
    status: { phase: at % 7 === 0 ? 'Pending' : 'Running' },
  });
}

const users = serveUsers({
  createFactory: () =>
    createInformerFactory(createClient({ baseUrl: 'http://fake', fetch: api.fetch })),
  // All connections begin at once.
  limits: { signingIn: 10_000 },
});
const server = createServer();
new WebSocketServer({ server, maxPayload: 65_536 }).on('connection', (socket, request) => {
  const signIn = ({ credentials }: { readonly credentials: unknown }) => ({
    name: String((credentials as { readonly user: string }).user),
  });
  users.connect(socketPort(socket), { request, signIn });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ port })}\n`);
});

/** Half of the changes are among the first Pods, which windows show. The label says when it was written. */
let made = 0;
setInterval(() => {
  const at = made++ % 2 === 0 ? (made * 3) % 50 : (made * 17) % count;
  const pod = api.objects.get(pods, { namespace: namespaceOf(at), name: nameOf(at) });
  const labels = { at: String(performance.timeOrigin + performance.now()) };
  if (pod !== undefined) {
    api.objects.update(pods, { ...pod, metadata: { ...pod.metadata, labels } } as never);
  }
}, 1_000 / perSecond);

// Answers each line of the parent with what was used.
process.stdin.on('data', () => {
  const { user, system } = process.cpuUsage();
  const { rss } = process.memoryUsage();
  process.stdout.write(
    `${JSON.stringify({ cpuMs: (user + system) / 1_000, rss, ...users.counts })}\n`,
  );
});
process.stdin.on('end', () => process.exit());
