/// <reference types="node" />
/**
 * `createTcpProxy`: a proxy on 127.0.0.1 that injects faults into connections. It forwards bytes unchanged, so it also
 * works with TLS and can cut a connection inside a TLS record. Requires Node.
 */

import type { Server } from 'node:net';
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { check } from '../../checks/checked-option.ts';
import { nodeModule } from '../http/node-module.ts';
import { type Conditions, Connection } from './tcp-connection.ts';

/** The options of {@link createTcpProxy}. */
export interface TcpProxyOptions {
  /** The address to connect to: a URL, of which only host and port are used, or host and port. */
  readonly target: string | { readonly host?: string | undefined; readonly port: number };
  /** The port to listen on. @defaultValue 0, which is any free port */
  readonly port?: number | undefined;
  /** @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

/** A fault of the proxy that lasts until it is healed. */
export interface StandingTcpFault {
  /** Ends the fault. Idempotent. */
  heal(): void;
}

/** A listening proxy. */
export interface TcpProxy {
  readonly port: number;
  /** The number of open client connections. */
  readonly connections: number;
  /** The number of all connections so far, including refused ones. */
  readonly accepted: number;
  /** The number of bytes sent to clients. */
  readonly bytesToClients: number;
  /** Resets all connections. Returns how many there were. */
  drop(): number;
  /**
   * Resets each open connection, and the next new one, after this many more bytes to its client. The cut can be inside
   * a TLS record or handshake.
   */
  cutAfter(bytes: number): void;
  /** Resets new connections immediately. */
  refuse(): StandingTcpFault;
  /**
   * Loses connections without notice to either end: open connections, and those that are opened until the fault is
   * healed, stay open and carry nothing more. After the fault is healed, new connections work, and lost ones stay lost.
   */
  halfOpen(): StandingTcpFault;
  /** Delays bytes in both directions by `ms` milliseconds. */
  delay(ms: number): StandingTcpFault;
  /** Limits the rate to each client, in bytes per second. */
  throttle(bytesPerSecond: number): StandingTcpFault;
  /** Stops listening and resets all connections. */
  close(): Promise<void>;
}

function addressOf(target?: TcpProxyOptions['target']): { host: string; port: number } {
  const isAddress = typeof target === 'string' || typeof target?.port === 'number';
  check(isAddress, 'createTcpProxy: target', target, 'a URL, or { port } with a number');
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
 * Listens on 127.0.0.1, forwards connections to `target`, and injects faults on demand.
 *
 * Rejects if the port is in use, if the target is invalid, and outside Node. If the target cannot be reached, the
 * connection is reset.
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
  const address = addressOf(options?.target);
  const { scheduler = asyncScheduler } = options;
  const connections = new Set<Connection>();
  const conditions: Conditions = { delays: new Set(), rates: new Set() };
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
      conditions,
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
    delay: (ms) => standing(conditions.delays, { ms }),
    throttle: (bytesPerSecond) => standing(conditions.rates, { bytesPerSecond }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const connection of [...connections]) connection.reset();
      }),
  };
}
