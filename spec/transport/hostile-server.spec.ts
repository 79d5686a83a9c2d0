/** A hostile or broken server leads to a clear error, and other work continues. */
import { createServer } from 'node:http';
import {
  type ApiError,
  createDiscovery,
  createListWatch,
  createResourceClient,
  createSharedInformer,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { lastValueFrom } from 'rxjs';
import { toArray } from 'rxjs/operators';
import { afterEach, describe, expect, it } from 'vitest';
import { failureOf } from '../support/errors.ts';
import { eventually } from '../support/patience.ts';
import {
  answering,
  bombed,
  ENDLESS,
  endAll,
  endlessly,
  flooded,
  headOf,
  interimOnly,
  LIST,
  longestPiece,
  MiB,
  refusal,
  serving,
  started,
  ways,
} from './hostile-rig.ts';

afterEach(endAll);

describe.each(ways)('over %s', (way) => {
  it.each(ENDLESS)('T7, D8: %s is refused at its limit', async (...endless) => {
    const { error, sent } = await refusal(way, endless);
    expect(error.reason).toBe('TooLarge');
    expect(error.message).toMatch(/^(LIST|WATCH) v1\/pods: .* longer than \d+ bytes; .*raise max/);
    expect(sent).toBeLessThan(20 * MiB);
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
    expect(await longestPiece(way, 5)).toBe(MiB);
  });
});

it('T7: endless interim responses are not a response', async () => {
  expect(['Network', 'Aborted']).toContain((await interimOnly(8 * MiB)).reason);
});

it('T7: a decompression bomb is refused at the limit of a line', async () => {
  expect(await bombed()).toEqual(['TooLarge', 'TooLarge', 'TooLarge']);
});

it('C16: discovery of 200,000 resources is read, of 200,000 versions is refused', async () => {
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
  const versions = Array.from({ length: 200_000 }, (_, at) => `v${at}`);
  bodies['/api'] = JSON.stringify({ kind: 'APIVersions', versions });
  asked.length = 0;
  const error = await failureOf(createDiscovery(client).served());
  expect(error.message).toBe(
    'GET /api: the server lists 200000 API versions; at most 5000 are requested',
  );
  expect(asked.length).toBeLessThan(5);
});

it('T7: a flood of bookmarks leaves time for other tasks, and shows no status for each', async () => {
  const { informer, sent } = await flooded();
  let statuses = 0;
  informer.status$.subscribe(() => statuses++);
  // The event loop turns meanwhile.
  const from = sent();
  await eventually(() => expect(sent() - from).toBeGreaterThan(20 * MiB));
  expect(statuses).toBeLessThan(20);
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
    await informer.whenObserved('x/b', '9');
    expect(informer.indexer.listKeys()).toEqual(['x/a', 'x/b']);
    await informer.stop();
  }
});
