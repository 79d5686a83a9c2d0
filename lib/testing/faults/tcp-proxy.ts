/// <reference types="node" />
/**
 * A proxy of connections on 127.0.0.1 that hurts them: bytes pass as they are, so TLS goes through and can be cut in
 * the middle. Needs Node.
 */
import type { Server } from 'node:net';
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { nodeModule } from '../http/node-module.ts';
import { Connection, type Weather } from './tcp-connection.ts';

/** What {@link createTcpProxy} takes. */
export interface TcpProxyOptions {
  /** Where connections go: a URL, of which host and port count, or both. */
  readonly target: string | { readonly host?: string | undefined; readonly port: number };
  /** To listen on; 0 or left out: any free port. */
  readonly port?: number | undefined;
  /** @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

/** A fault of the proxy that stands until it is healed. */
export interface StandingTcpFault {
  /** Ends it. Idempotent. */
  heal(): void;
}

/** A proxy that listens. */
export interface TcpProxy {
  readonly port: number;
  /** Open connections of clients. */
  readonly connections: number;
  /** All connections there have been, those that were refused too. */
  readonly accepted: number;
  /** Bytes that went to clients. */
  readonly bytesToClients: number;
  /** Resets all connections. Answers how many there were. */
  drop(): number;
  /** Resets each connection, open and to come once, after so many more bytes to its client: in a TLS record, or a handshake. */
  cutAfter(bytes: number): void;
  /** New connections are reset at once. */
  refuse(): StandingTcpFault;
  /**
   * Connections are lost and nobody is told: open ones, and those that come meanwhile, stay open and carry nothing any
   * more. Healed, new connections work; what was lost stays lost.
   */
  halfOpen(): StandingTcpFault;
  /** Bytes arrive so much later, in milliseconds, in both directions. */
  delay(ms: number): StandingTcpFault;
  /** No more than so many bytes a second to each client. */
  throttle(bytesPerSecond: number): StandingTcpFault;
  /** Stops listening and resets all connections. */
  close(): Promise<void>;
}

function addressOf(target: TcpProxyOptions['target']): { host: string; port: number } {
  if (typeof target !== 'string') return { host: target.host ?? '127.0.0.1', port: target.port };
  const { protocol, hostname, port } = new URL(target);
  return { host: hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)) };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.removeListener('error', reject);
      resolve((server.address() as { port: number }).port);
    });
  });
}

/**
 * Listens on 127.0.0.1 and passes connections on to `target`, well or badly.
 *
 * Rejects if the port is taken, if the URL is invalid, or outside of Node. A target that cannot be reached resets the connection.
 *
 * @example
 * ```ts
 * import { createFakeApiServer, createTcpProxy } from 'rx-informer/testing';
 *
 * const served = await createFakeApiServer().serve();
 * const proxy = await createTcpProxy({ target: served.url });
 * const url = `http://127.0.0.1:${proxy.port}/version`;
 * (await fetch(url)).status; // => 200
 * const fault = proxy.refuse();
 * proxy.drop();
 * await fetch(url).catch(() => 'refused'); // => 'refused'
 * fault.heal();
 * await proxy.close();
 * await served.close();
 * ```
 */
export async function createTcpProxy(options: TcpProxyOptions): Promise<TcpProxy> {
  const { connect, createServer } = nodeModule('node:net', 'createTcpProxy');
  const { scheduler = asyncScheduler } = options;
  const address = addressOf(options.target);
  const connections = new Set<Connection>();
  const weather: Weather = { delays: new Set(), rates: new Set() };
  const refusals = new Set<object>();
  const losses = new Set<object>();
  let accepted = 0;
  let bytesToClients = 0;
  let cutNext: number | undefined;

  const server = createServer({ allowHalfOpen: true }, (client) => {
    accepted++;
    if (refusals.size > 0) {
      client.on('error', () => {});
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ ...address, allowHalfOpen: true });
    const connection = new Connection({
      client,
      upstream,
      scheduler,
      weather,
      onSent: (bytes) => {
        bytesToClients += bytes;
      },
      onClose: (closed) => connections.delete(closed),
    });
    connections.add(connection);
    if (losses.size > 0) connection.lose();
    if (cutNext !== undefined) connection.cutAfter(cutNext);
    cutNext = undefined;
  });
  const standing = <V extends object>(all: Set<V>, fault: V): StandingTcpFault => {
    all.add(fault);
    return { heal: () => void all.delete(fault) };
  };
  const port = await listen(server, options.port ?? 0);

  return {
    port,
    get connections() {
      return connections.size;
    },
    get accepted() {
      return accepted;
    },
    get bytesToClients() {
      return bytesToClients;
    },
    drop() {
      const open = [...connections];
      for (const connection of open) connection.reset();
      return open.length;
    },
    cutAfter(bytes) {
      cutNext = bytes;
      for (const connection of connections) connection.cutAfter(bytes);
    },
    refuse: () => standing(refusals, {}),
    halfOpen() {
      for (const connection of connections) connection.lose();
      return standing(losses, {});
    },
    delay: (ms) => standing(weather.delays, { ms }),
    throttle: (bytesPerSecond) => standing(weather.rates, { bytesPerSecond }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const connection of [...connections]) connection.reset();
      }),
  };
}
