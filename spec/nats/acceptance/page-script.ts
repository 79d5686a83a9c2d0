/** The script of a page that reads a bucket over WebSocket. */
import { wsconnect } from '@nats-io/nats-core';
import { Reader } from './reader.ts';

async function start(url: string, bucket: string): Promise<Reader> {
  const connection = await wsconnect({
    servers: url,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    pingInterval: 2_000,
  });
  return new Reader(connection, 'page', '', bucket);
}

Object.assign(globalThis, { startReader: start });
