/** Any number of readers in one process, each with a connection of its own. */
import { connect } from '@nats-io/transport-node';
import { answerCalls, report } from './child.ts';
import { Reader } from './reader.ts';

const readers: Reader[] = [];

answerCalls({
  async start(url: string, bucket: string, scopes: readonly { name: string; namespace: string }[]) {
    const open = () =>
      connect({
        servers: url,
        maxReconnectAttempts: -1,
        reconnectTimeWait: 250,
        pingInterval: 2_000,
      });
    const connections = await Promise.all(scopes.map(open));
    for (const [at, connection] of connections.entries()) {
      const { name = '', namespace = '' } = scopes[at] ?? {};
      readers.push(new Reader(connection, name, namespace, bucket));
    }
  },
  stored: () => readers.map((reader) => reader.stored()),
});

setInterval(() => report(readers.map((reader) => reader.sample())), 200);
