/** A hostile or broken server leads to a clear error in bounded memory, and other work continues. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcp, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import {
  type ApiError,
  createClient,
  createDiscovery,
  createListWatch,
  createResourceClient,
  createSharedInformer,
  type KubeClient,
} from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { lastValueFrom, type Observable } from 'rxjs';
import { toArray } from 'rxjs/operators';
import { afterEach, describe, expect, it } from 'vitest';
import { sameContent } from '../../lib/meta/same-content.ts';
import { eventually } from '../support/patience.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

/** The memory in use, in MiB, after garbage collection. */
function heldMiB(): number {
  gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 2 ** 20;
}

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function started(server: Server | ReturnType<typeof createTcp>): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ways = ['fetch', 'undici'] as const;
type Way = (typeof ways)[number];

function clientOf(baseUrl: string, way: Way, options = {}): KubeClient {
  const transport =
    way === 'fetch' ? {} : { transport: createUndiciTransport({ baseUrl, headersTimeoutMs: 500 }) };
  const client = createClient({ baseUrl, qps: 0, ...transport, ...options });
  ends.push(() => client.close());
  return client;
}

/** A client of a server with this request listener. */
async function answering(way: Way, listener: RequestListener, options = {}): Promise<KubeClient> {
  return clientOf(await started(createServer(listener)), way, options);
}

/** A client of a server that runs `serve` on the socket as soon as it receives a request. */
async function serving(way: Way, serve: (socket: Socket) => void): Promise<KubeClient> {
  return clientOf(
    await started(createTcp((socket) => socket.once('data', () => serve(socket)))),
    way,
  );
}

/** Writes without end, as fast as the data is read, and counts the bytes. */
function endlessly(write: (part: Buffer) => boolean, on: Socket, part: Buffer): { bytes: number } {
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

const failureOf = (promise: Promise<unknown>): Promise<ApiError> =>
  promise.then(
    () => expect.unreachable('it did not fail'),
    (error: ApiError) => error,
  );
const MiB = 2 ** 20;
const LIST = { resourceVersion: '' };
const WATCH = { resourceVersion: '1', timeoutSeconds: 300 };
const headOf = (type = 'application/json') =>
  `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`;
const item = (name: string) =>
  `{"metadata":{"name":"${name}","namespace":"x","resourceVersion":"5","uid":"${name}"}}`;

describe.each(ways)('over %s', (way) => {
  it.each([
    ['a line without an end', '{"type":"ADDED","object":{"metadata":{"name":"', 'x', 'watch'],
    ['an item without an end', '{"items":[{"a":"', 'x', 'list'],
    ['an envelope without an end', '{"a":"', 'x', 'list'],
    ['a list without an end', `{"items":[${item('a')}`, `,${item('b')}`, 'list'],
    ['a list of nothing without an end', '{"items":[', '         ,', 'list'],
    ['a list nested without an end', '{"items":[{"a":', '[', 'list'],
  ] as const)('T7, D8: %s is refused at its limit', async (_name, first, part, use) => {
    const before = heldMiB();
    let sent = { bytes: 0 };
    const client = await answering(way, (request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(first);
      const filler = Buffer.from(part.repeat(Math.ceil(65_536 / part.length)));
      sent = endlessly((bytes) => response.write(bytes), request.socket, filler);
    });
    const bounds = { maxFrameBytes: MiB, maxPageBytes: 2 * MiB };
    const listWatch = createListWatch(client, pods, bounds);
    const asked: Observable<unknown> =
      use === 'list' ? listWatch.list(LIST) : listWatch.watch(WATCH);
    const error = await failureOf(lastValueFrom(asked));
    expect(error.reason).toBe('TooLarge');
    expect(error.message).toMatch(/^(LIST|WATCH) v1\/pods: .* longer than \d+ bytes; .*raise max/);
    expect(sent.bytes).toBeLessThan(20 * MiB);
    expect(heldMiB() - before).toBeLessThan(30);
  });

  it('T7: a call whose response does not end is aborted at its limit', async () => {
    const client = await answering(
      way,
      (request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        endlessly((bytes) => response.write(bytes), request.socket, Buffer.alloc(65_536, '['));
      },
      { maxBodyBytes: MiB },
    );
    for (const call of [
      () => client.request({ path: '/x' }),
      () => createDiscovery(client).served(),
      () => createResourceClient(client, pods).list(),
    ]) {
      expect((await failureOf(call())).reason).toBe('TooLarge');
    }
  });

  it('T7: a body of one byte per chunk costs little more memory than its bytes', async () => {
    const count = 1_500_000;
    const chunks = Buffer.from('1\r\nx\r\n'.repeat(count));
    const client = await serving(way, (socket) => {
      socket.write(`${headOf()}1\r\n"\r\n`);
      socket.write(chunks);
    });
    const before = heldMiB();
    const calls: Observable<unknown>[] = [
      createListWatch(client, pods).watch(WATCH),
      createListWatch(client, pods).list(LIST),
    ];
    for (const call of calls) {
      let most = 0;
      const subscription = call.subscribe({ error: () => {} });
      for (let turn = 0; turn < 6; turn++) {
        await new Promise((resolve) => setTimeout(resolve, 250));
        most = Math.max(most, heldMiB() - before);
      }
      subscription.unsubscribe();
      // Keeping each byte by itself would cost many times as much.
      expect(most).toBeLessThan(40);
    }
  });

  it('T9: a redirect is an error, and its target receives no request', async () => {
    const heard: string[] = [];
    const target = await started(
      createServer((request, response) => {
        heard.push(request.url ?? '');
        response.end('{}');
      }),
    );
    const client = await answering(
      way,
      (_, response) => {
        response.writeHead(307, { location: `${target}/api/v1/pods` });
        response.end();
      },
      { headers: { 'x-api-key': 'k', authorization: 'Bearer t' } },
    );
    const errors = [
      await failureOf(client.request({ path: '/api/v1/pods' })),
      await failureOf(lastValueFrom(createListWatch(client, pods).list(LIST))),
    ];
    for (const error of errors) expect(error.code).toBe(307);
    expect(heard).toEqual([]);
  });

  it.each([
    ['100,000 headers', `HTTP/1.1 200 OK\r\n${'A: b\r\n'.repeat(100_000)}\r\n{}`],
    ['a header of 10 MB', `HTTP/1.1 200 OK\r\nA: ${'b'.repeat(10_000_000)}\r\n\r\n{}`],
    ['text that is not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ])('T7: %s is a network error', async (_name, text) => {
    const client = await serving(way, (socket) => socket.write(text));
    const error = await failureOf(client.request({ path: '/x' }));
    expect(error.reason).toBe('Network');
    expect(error.message.length).toBeLessThan(200);
  });

  it('T7: headers named like prototype members are plain headers', async () => {
    const odd = '__proto__: x\r\n__proto__: y\r\nconstructor: z\r\ntoString: z\r\n';
    const client = await serving(way, (socket) =>
      socket.end(
        `HTTP/1.1 200 OK\r\n${odd}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
      ),
    );
    const answer = await client.request({ path: '/x' }).catch((error: ApiError) => error.reason);
    expect([{}, 'Network']).toContainEqual(answer);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect({}.toString).toBe(Object.prototype.toString);
  });

  it('T7: deep nesting does not overflow the stack', async () => {
    const deep = `{"metadata":{"name":"a","namespace":"x","resourceVersion":"5","uid":"u"},"spec":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`;
    const client = await answering(way, (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[${deep}]}`);
    });
    const outcome = await lastValueFrom(createListWatch(client, pods).list(LIST)).then(
      () => 'read',
      (error: ApiError) => error.reason,
    );
    expect(['read', 'Malformed']).toContain(outcome);
    const call = await createResourceClient(client, pods)
      .list()
      .then(
        () => 'read',
        (error: ApiError) => error.reason,
      );
    expect(['read', 'Malformed']).toContain(call);
  });

  it('C10: a log without line breaks is emitted in pieces', async () => {
    const client = await answering(way, (request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      endlessly((bytes) => response.write(bytes), request.socket, Buffer.alloc(65_536, 'x'));
    });
    const before = heldMiB();
    let longest = 0;
    let pieces = 0;
    await new Promise<void>((resolve) => {
      const subscription = createResourceClient(client, pods)
        .log('x/a')
        .subscribe((line) => {
          longest = Math.max(longest, line.length);
          if (++pieces < 160) return;
          subscription.unsubscribe();
          resolve();
        });
    });
    expect(longest).toBe(MiB);
    // 160 pieces of 1 MiB were received. The amount in flight depends on the pace of server and
    // reader, which share this process.
    expect(heldMiB() - before).toBeLessThan(120);
  });
});

it('T7: endless interim responses are not a response', async () => {
  const client = await serving('undici', (socket) => {
    endlessly(
      (bytes) => socket.write(bytes),
      socket,
      Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n'.repeat(1000)),
    );
  });
  const before = heldMiB();
  const abort = AbortSignal.timeout(1_000);
  const error = await failureOf(client.request({ path: '/x', signal: abort }));
  expect(['Network', 'Aborted']).toContain(error.reason);
  expect(heldMiB() - before).toBeLessThan(30);
});

it('T7: a decompression bomb is refused at the limit of a line', async () => {
  const bomb = gzipSync(Buffer.alloc(200 * MiB, '['));
  const client = await answering(
    'fetch',
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(bomb);
    },
    { maxBodyBytes: 8 * MiB },
  );
  const before = heldMiB();
  const listWatch = createListWatch(client, pods, { maxFrameBytes: 4 * MiB });
  expect((await failureOf(lastValueFrom(listWatch.watch(WATCH)))).reason).toBe('TooLarge');
  expect((await failureOf(lastValueFrom(listWatch.list(LIST)))).reason).toBe('TooLarge');
  expect((await failureOf(client.request({ path: '/x' }))).reason).toBe('TooLarge');
  expect(heldMiB() - before).toBeLessThan(40);
});

it('C20: discovery of a million resources is read, of a million versions is refused', async () => {
  const list = JSON.stringify({
    kind: 'APIResourceList',
    resources: Array.from({ length: 200_000 }, (_, at) => ({
      name: at % 2 === 0 ? `r${at}` : `r${at - 1}/status`,
      kind: 'R',
      namespaced: true,
      verbs: ['get'],
    })),
  });
  const bodies: Record<string, string> = {
    '/api': JSON.stringify({ kind: 'APIVersions', versions: ['v1'] }),
    '/apis': JSON.stringify({ kind: 'APIGroupList', groups: [] }),
    '/api/v1': list,
  };
  const asked: string[] = [];
  const client = await answering('fetch', (request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    // On a busy machine the work between two requests takes so long that the server would end a kept connection.
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.end(bodies[path] ?? '{}');
  });
  const { resources } = await createDiscovery(client).served();
  expect([resources.length, resources[7]?.subresources]).toEqual([100_000, ['status']]);
  const odd = ['../../api/v1/secrets', 'v1?x=y', 'v1#x', '', '.', '__proto__', 7, null, {}];
  bodies['/api'] = JSON.stringify({ kind: 'APIVersions', versions: odd });
  bodies['/apis'] = JSON.stringify({
    kind: 'APIGroupList',
    groups: odd.map((name) => ({ name, versions: [{ version: 'v1' }, null, { version: {} }] })),
  });
  asked.length = 0;
  expect((await createDiscovery(client).served()).resources).toEqual([]);
  expect(asked.sort()).toEqual(['/api', '/apis']);
  const versions = Array.from({ length: 1_000_000 }, (_, at) => `v${at}`);
  bodies['/api'] = JSON.stringify({ kind: 'APIVersions', versions });
  asked.length = 0;
  const error = await failureOf(createDiscovery(client).served());
  expect(error.message).toBe(
    'GET /api: the server lists 1000000 API versions; at most 5000 are requested',
  );
  expect(asked.length).toBeLessThan(5);
});

it('T7: a flood of bookmarks leaves time for other tasks and uses no memory', async () => {
  const client = await answering('undici', (request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (request.url?.includes('sendInitialEvents') === true) {
      const object = {
        metadata: { resourceVersion: '1', annotations: { 'k8s.io/initial-events-end': 'true' } },
      };
      response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
    }
    const line = '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}\n';
    endlessly((bytes) => response.write(bytes), request.socket, Buffer.from(line.repeat(500)));
  });
  const informer = createSharedInformer(createListWatch(client, pods));
  let statuses = 0;
  informer.status$.subscribe(() => statuses++);
  informer.start();
  await informer.whenSynced({ timeoutMs: 10_000 });
  const before = heldMiB();
  let turns = 0;
  const turn = setInterval(() => turns++, 10);
  // The event loop turns meanwhile.
  await eventually(() => expect(turns).toBeGreaterThan(10));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  clearInterval(turn);
  expect(statuses).toBeLessThan(20);
  expect(heldMiB() - before).toBeLessThan(30);
  await informer.stop();
});

it('T7: a long log of tiny chunks is read completely', async () => {
  const pieces = await lastValueFrom(
    createResourceClient(
      await serving('fetch', (socket) =>
        socket.end(`${headOf('text/plain')}${'1\r\nx\r\n'.repeat(500_000)}0\r\n\r\n`),
      ),
      pods,
    )
      .log('x/a')
      .pipe(toArray()),
  );
  expect(pieces.map(({ length }) => length)).toEqual([500_000]);
});

it('T7: a deeply nested object does not affect other objects', async () => {
  const object = (name: string, version: number, depth: number) =>
    `{"metadata":{"name":"${name}","namespace":"x","uid":"${name}","resourceVersion":"${version}"},"data":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
  const client = await answering('undici', (request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (request.url?.includes('watch=true') === true) {
      for (const [name, depth] of [['a', 200_000] as const, ['b', 1] as const]) {
        response.write(`{"type":"MODIFIED","object":${object(name, 9, depth)}}\n`);
      }
      return;
    }
    const items = [object('a', 5, 200_000), object('b', 5, 1)];
    response.end(`{"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[${items.join()}]}`);
  });
  for (const mutationGuard of ['freeze', 'off'] as const) {
    const listWatch = createListWatch(client, pods, { watchList: false });
    const informer = createSharedInformer(listWatch, { mutationGuard });
    informer.start();
    await informer.whenObserved('x/b', '9', { timeoutMs: 10_000 });
    expect(informer.indexer.listKeys()).toEqual(['x/a', 'x/b']);
    await informer.stop();
  }
  const deep = () => JSON.parse(object('a', 1, 200_000)) as unknown;
  expect(sameContent(deep(), deep())).toBe(false);
});
