/** Servers that are hostile or broken, and clients of them over `fetch` and over undici. */
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcp, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import {
  type ApiError,
  createClient,
  createListWatch,
  createResourceClient,
  createSharedInformer,
  type KubeClient,
} from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { lastValueFrom, type Observable } from 'rxjs';
import { map, reduce, take } from 'rxjs/operators';
import { opened } from '../node/servers.ts';
import { failureOf } from '../support/errors.ts';

const ends: (() => Promise<unknown>)[] = [];
/** Ends the servers and the clients of a test. */
export async function endAll(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}

export async function started(server: Server): Promise<string> {
  const { url, close } = await opened(server, 'http');
  ends.push(close);
  return url;
}

export const ways = ['fetch', 'undici'] as const;
export type Way = (typeof ways)[number];

function clientOf(baseUrl: string, way: Way, options = {}): KubeClient {
  const transport = way === 'fetch' ? {} : { transport: createUndiciTransport({ baseUrl }) };
  const client = createClient({ baseUrl, qps: 0, ...transport, ...options });
  ends.push(() => client.close());
  return client;
}

/** A client of a server with this request listener. */
export async function answering(
  way: Way,
  listener: RequestListener,
  options = {},
): Promise<KubeClient> {
  return clientOf(await started(createServer(listener)), way, options);
}

/** A client of a server that runs `serve` on the socket as soon as it receives a request. */
export async function serving(way: Way, serve: (socket: Socket) => void): Promise<KubeClient> {
  return clientOf(
    await started(createTcp((socket) => socket.once('data', () => serve(socket)))),
    way,
  );
}

/** Writes without end, as fast as the data is read, and counts the bytes. */
export function endlessly(
  write: (part: Buffer) => boolean,
  on: Socket,
  part: Buffer,
): { bytes: number } {
  const sent = { bytes: 0 };
  const more = () => {
    for (let at = 0; at < 64; at++) {
      if (on.destroyed) return;
      sent.bytes += part.length;
      if (!write(part)) {
        on.once('drain', more);
        return;
      }
    }
    setImmediate(more);
  };
  more();
  return sent;
}

export const MiB = 2 ** 20;
export const LIST = { resourceVersion: '' };
export const WATCH = { resourceVersion: '1', timeoutSeconds: 300 };
export const headOf = (type = 'application/json') =>
  `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`;
export const item = (name: string) =>
  `{"metadata":{"name":"${name}","namespace":"x","resourceVersion":"5","uid":"${name}"}}`;

/** A case of {@link ENDLESS}. */
export type Endless = readonly [what: string, first: string, part: string, use: 'watch' | 'list'];

/** What a server sends without an end: the beginning, what follows again and again, and what is requested. */
export const ENDLESS: readonly Endless[] = [
  ['a line without an end', '{"type":"ADDED","object":{"metadata":{"name":"', 'x', 'watch'],
  ['an item without an end', '{"items":[{"a":"', 'x', 'list'],
  ['an envelope without an end', '{"a":"', 'x', 'list'],
  ['a list without an end', `{"items":[${item('a')}`, `,${item('b')}`, 'list'],
  ['a list of nothing without an end', '{"items":[', '         ,', 'list'],
  ['a list nested without an end', '{"items":[{"a":', '[', 'list'],
];

/** Requests what never ends, with low limits, and returns how it fails and how many bytes were sent. */
export async function refusal(way: Way, [, first, part, use]: Endless) {
  let sent = { bytes: 0 };
  const client = await answering(way, (request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(first);
    const filler = Buffer.from(part.repeat(Math.ceil(65_536 / part.length)));
    sent = endlessly((bytes) => response.write(bytes), request.socket, filler);
  });
  const bounds = { maxFrameBytes: MiB, maxPageBytes: 2 * MiB };
  const listWatch = createListWatch(client, pods, bounds);
  const asked: Observable<unknown> = use === 'list' ? listWatch.list(LIST) : listWatch.watch(WATCH);
  const error = await failureOf(lastValueFrom(asked));
  return { error, sent: sent.bytes };
}

/** Reads `pieces` pieces of a log that has neither a line break nor an end, and returns the length of the longest. */
export async function longestPiece(way: Way, pieces: number): Promise<number> {
  const client = await answering(way, (request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    endlessly((bytes) => response.write(bytes), request.socket, Buffer.alloc(65_536, 'x'));
  });
  const longest = createResourceClient(client, pods)
    .log('x/a')
    .pipe(
      take(pieces),
      map(({ length }) => length),
      reduce((one, other) => Math.max(one, other)),
    );
  return lastValueFrom(longest);
}

/** Sends interim responses without an end, and returns how the request fails once `bytes` have been sent. */
export async function interimOnly(bytes: number): Promise<ApiError> {
  const abort = new AbortController();
  const client = await serving('undici', (socket) => {
    let sent = 0;
    const write = (part: Buffer) => {
      sent += part.length;
      if (sent > bytes) abort.abort();
      return socket.write(part);
    };
    const hints = 'HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n'.repeat(1000);
    endlessly(write, socket, Buffer.from(hints));
  });
  return failureOf(client.request({ path: '/x', signal: abort.signal }));
}

/** Requests a body of 200 MiB that is sent as 200 kB, as a watch, a list and a call, and returns the reasons. */
export async function bombed(): Promise<string[]> {
  const bomb = gzipSync(Buffer.alloc(200 * MiB, '['));
  const client = await answering(
    'fetch',
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(bomb);
    },
    { maxBodyBytes: 8 * MiB },
  );
  const listWatch = createListWatch(client, pods, { maxFrameBytes: 4 * MiB });
  const reasons: string[] = [];
  reasons.push((await failureOf(lastValueFrom(listWatch.watch(WATCH)))).reason);
  reasons.push((await failureOf(lastValueFrom(listWatch.list(LIST)))).reason);
  reasons.push((await failureOf(client.request({ path: '/x' }))).reason);
  return reasons;
}

/** A synced informer whose watch is a flood of bookmarks, and the bytes that were sent to it. */
export async function flooded() {
  let sent = { bytes: 0 };
  const client = await answering('undici', (request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (request.url?.includes('sendInitialEvents') === true) {
      const object = {
        metadata: { resourceVersion: '1', annotations: { 'k8s.io/initial-events-end': 'true' } },
      };
      response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
    }
    const line = '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}\n';
    const lines = Buffer.from(line.repeat(500));
    sent = endlessly((bytes) => response.write(bytes), request.socket, lines);
  });
  const informer = createSharedInformer(createListWatch(client, pods));
  informer.start();
  await informer.whenSynced();
  return { informer, sent: () => sent.bytes };
}
