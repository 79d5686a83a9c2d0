/** A server of users whose informers read NATS, as a process of its own: `users-process.ts API NATS SECRET`. */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { connect } from '@nats-io/transport-node';
import { createClient, createInformerFactory } from 'rx-informer';
import { createNatsListWatch } from 'rx-informer/nats';
import { configMaps, pods } from 'rx-informer/resources';
import { type SocketLike, serveUsers, socketPort } from 'rx-informer/server';
import { permittedTo } from '../bench/users/load.ts';

type Upgraded = (socket: SocketLike, request: never) => void;
const { WebSocketServer } = createRequire(import.meta.url)('ws') as {
  WebSocketServer: new (options: object) => { on(event: 'connection', listener: Upgraded): void };
};

const [baseUrl = '', servers = '', sharedSecret = ''] = process.argv.slice(2);
const connection = await connect({ servers, maxReconnectAttempts: -1, reconnectTimeWait: 100 });
const factory = createInformerFactory(createClient({ baseUrl }), {
  listWatch: (resource) =>
    createNatsListWatch(connection, resource, { bucket: 'k8s', idleMs: 1_000 }),
});
const users = serveUsers({
  ...{ factory, kinds: [pods, configMaps], sharedSecret },
  rights: ({ name }) => permittedTo(Number(name)),
});
factory.start();
await factory.whenSynced();
const server = createServer();
new WebSocketServer({ server, maxPayload: 65_536 }).on('connection', (socket, request) => {
  const signIn = ({ credentials }: { readonly credentials: unknown }) => ({
    name: String((credentials as { readonly user: number }).user),
  });
  users.connect(socketPort(socket), { request, signIn });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
process.on('SIGTERM', () => {
  // First, so that nobody comes back.
  server.close();
  users.drain();
  void factory.stop().then(() => process.exit());
});
// The test has ended.
process.stdin.on('end', () => process.exit()).resume();
