/** The server of the load of users: one factory for all, or one for each, and sockets. */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createClient, createInformerFactory } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { type SocketLike, serveUsers, socketPort } from 'rx-informer/server';
import { permittedTo } from './load.ts';

type Upgraded = (socket: SocketLike, request: never) => void;
const { WebSocketServer } = createRequire(import.meta.url)('ws') as {
  WebSocketServer: new (options: object) => { on(event: 'connection', listener: Upgraded): void };
};

const [baseUrl = '', kind] = process.argv.slice(2);
const factoryOf = () => createInformerFactory(createClient({ baseUrl }));
// All connections begin at once.
const limits = { signingIn: 10_000 };
const shared = factoryOf();
const users =
  kind === 'each'
    ? serveUsers({ createFactory: factoryOf, limits })
    : serveUsers({
        ...{ factory: shared, kinds: [pods], limits },
        rights: ({ name }) => permittedTo(Number(name)),
      });
if (kind !== 'each') {
  shared.start();
  await shared.whenSynced();
}
const server = createServer();
new WebSocketServer({ server, maxPayload: 65_536 }).on('connection', (socket, request) => {
  const signIn = ({ credentials }: { readonly credentials: unknown }) => ({
    name: String((credentials as { readonly user: number }).user),
  });
  users.connect(socketPort(socket), { request, signIn });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ port })}\n`);
});

const gaps = monitorEventLoopDelay({ resolution: 10 });
gaps.enable();
/** The most CPU time between two turns of the event loop, which says on a busy machine what the clock does not. */
let sliceMs = 0;
let former = process.threadCpuUsage();
setInterval(() => {
  const { user, system } = process.threadCpuUsage(former);
  sliceMs = Math.max(sliceMs, (user + system) / 1_000);
  former = process.threadCpuUsage();
}, 5);
// Answers each line of the parent with what was used.
process.stdin.on('data', () => {
  const { user, system } = process.cpuUsage();
  const { rss } = process.memoryUsage();
  const cpuMs = (user + system) / 1_000;
  const used = { cpuMs, rss, gapMs: gaps.max / 1e6, sliceMs, ...users.counts };
  gaps.reset();
  sliceMs = 0;
  process.stdout.write(`${JSON.stringify(used)}\n`);
});
process.stdin.on('end', () => process.exit());
