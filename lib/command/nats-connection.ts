/// <reference types="node" />
/** Connects to NATS over TCP or WebSocket. The packages of NATS are loaded here, because they are optional. */
import { readFileSync } from 'node:fs';
import type { Authenticator, ConnectionOptions, NatsConnection } from '@nats-io/nats-core';
import { notLoaded } from '../node/optional-package.ts';

/** The servers, and what this process shows them. */
export interface NatsAddress {
  readonly servers: readonly string[];
  readonly credsFile: string | undefined;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly token: string | undefined;
  /** Set if all servers must offer TLS. */
  readonly tls:
    | {
        readonly caFile: string | undefined;
        readonly certFile: string | undefined;
        readonly keyFile: string | undefined;
      }
    | undefined;
}

type NatsCore = typeof import('@nats-io/nats-core');

/** Reads the file at each connection, because credentials are renewed. */
function credsOf(core: NatsCore, file: string): Authenticator {
  const read = (): Uint8Array => {
    try {
      return readFileSync(file);
    } catch (error) {
      const { code = 'no access' } = error as NodeJS.ErrnoException;
      throw new TypeError(`publish: the NATS credentials ${file} cannot be read (${code})`);
    }
  };
  read();
  return core.credsAuthenticator(read);
}

async function loadCore(): Promise<NatsCore> {
  try {
    return await import('@nats-io/nats-core');
  } catch (error) {
    throw notLoaded('publish', '@nats-io/nats-core', error);
  }
}

async function loadTransport(): Promise<typeof import('@nats-io/transport-node')> {
  try {
    return await import('@nats-io/transport-node');
  } catch (error) {
    throw notLoaded('publish', '@nats-io/transport-node', error);
  }
}

/**
 * Connects, and reconnects for ever. Rejects if no server can be reached, with an error that names the servers and no
 * credentials.
 */
export async function connectToNats(address: NatsAddress): Promise<NatsConnection> {
  const { credsFile, user, password, token, tls, servers } = address;
  const core = await loadCore();
  const given = Object.entries(tls ?? {}).filter(([, file]) => file !== undefined);
  const options: ConnectionOptions = {
    name: 'rx-informer publish',
    servers: [...servers],
    maxReconnectAttempts: -1,
    // A server that accepts the connection and never answers.
    timeout: 10_000,
    // A half-open connection is found within 15 s.
    pingInterval: 5_000,
    ...(credsFile === undefined ? {} : { authenticator: credsOf(core, credsFile) }),
    ...(user === undefined ? {} : { user, pass: password ?? '' }),
    ...(token === undefined ? {} : { token }),
    ...(tls === undefined ? {} : { tls: Object.fromEntries(given) }),
  };
  const isWebSocket = servers.some((url) => /^wss?:/i.test(url));
  const connect = isWebSocket ? core.wsconnect : (await loadTransport()).connect;
  try {
    return await connect(options);
  } catch (error) {
    const { message } = error as Error;
    if (message.includes("does not support 'tls'")) {
      throw new Error(
        `publish: NATS at ${servers.join(', ')} offers no TLS, so no credentials were sent; a proxy in between may have removed it`,
      );
    }
    throw new Error(`publish: cannot connect to NATS at ${servers.join(', ')}: ${message}`);
  }
}
