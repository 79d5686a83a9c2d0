/** Lists with several pages, watches, logs and evictions, also those that are cut or endless, or whose signal is already aborted. */
import {
  ApiError,
  createClient,
  createDiscovery,
  createListWatch,
  createResourceClient,
  createRestMapper,
  type KubernetesObject,
  type Transport,
  type TransportEvent,
  type WatchEvent,
} from 'rx-informer';
import { configMaps, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { NEVER, Observable, Subject, take } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { failureOf } from '../support/errors.ts';
import { type Asked, refusal, type Scripted, scriptedServer } from './scripted-server.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function page(names: readonly string[], metadata: object): Scripted {
  const items = names.map((name) => ({ metadata: { namespace: 'shop', name } }));
  return { body: { kind: 'ConfigMapList', apiVersion: 'v1', metadata, items } };
}
const namesOf = ({ items }: { items: readonly KubernetesObject[] }) =>
  items.map(({ metadata }) => metadata?.name);

describe('a list', () => {
  it('C7: collects its pages, and has the version of the first page', async () => {
    const { client, asked } = scriptedServer([
      page(['a', 'b'], { resourceVersion: '7', continue: 'x', remainingItemCount: 1 }),
      page(['c'], { resourceVersion: '9' }),
    ]);
    const list = await createResourceClient(client, configMaps).list({
      namespace: 'shop',
      labelSelector: 'app=web',
      resourceVersion: '5',
      resourceVersionMatch: 'NotOlderThan',
    });
    expect(namesOf(list)).toEqual(['a', 'b', 'c']);
    expect(list.metadata).toEqual({ resourceVersion: '7' });
    expect(list.kind).toBe('ConfigMapList');
    expect(Object.entries(list.items[0] ?? {}).slice(0, 2)).toEqual([
      ['kind', 'ConfigMap'],
      ['apiVersion', 'v1'],
    ]);
    const query = { limit: '500', labelSelector: 'app=web' };
    const first = { ...query, resourceVersion: '5', resourceVersionMatch: 'NotOlderThan' };
    expect(asked.map((each) => each.query)).toEqual([first, { ...query, continue: 'x' }]);
  });

  it('C7: starts once more, without pages, if a token expires', async () => {
    const { client, asked } = scriptedServer([
      page(['old'], { resourceVersion: '7', continue: 'x' }),
      refusal(410, 'Expired'),
      page(['a', 'b'], { resourceVersion: '9' }),
    ]);
    const list = await createResourceClient(client, configMaps).list();
    expect(namesOf(list)).toEqual(['a', 'b']);
    expect(list.metadata.resourceVersion).toBe('9');
    expect(asked.map((each) => each.query)).toEqual([
      { limit: '500' },
      { limit: '500', continue: 'x' },
      {},
    ]);
  });

  it('C7: with a limit, returns one page and the token of the next', async () => {
    const server = createFakeApiServer();
    for (const name of ['a', 'b', 'c']) {
      server.objects.create(configMaps, { metadata: { namespace: 'shop', name } });
    }
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const shop = createResourceClient(client, configMaps);
    const first = await shop.list({ limit: 2 });
    expect(namesOf(first)).toEqual(['a', 'b']);
    const next = first.metadata.continue ?? '';
    const second = await shop.list({ limit: 2, continue: next });
    expect(namesOf(second)).toEqual(['c']);
    expect(second.metadata.continue).toBeUndefined();
    expect(namesOf(await shop.list())).toEqual(['a', 'b', 'c']);
  });

  it('C7: aborting its signal ends it between two pages', async () => {
    const controller = new AbortController();
    const { client, asked } = scriptedServer(() => {
      controller.abort();
      return page(['a'], { resourceVersion: '7', continue: 'x' });
    });
    const { signal } = controller;
    const failure = await failureOf(createResourceClient(client, configMaps).list({ signal }));
    expect(failure).toMatchObject({ reason: 'Aborted' });
    expect(asked).toHaveLength(1);
  });
});

describe('a watch', () => {
  const server = createFakeApiServer();
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });

  it('W6: sends one request and emits its events until it is unsubscribed', async () => {
    server.clearRequests();
    const events: WatchEvent<KubernetesObject>[] = [];
    const watch = createResourceClient(client, configMaps)
      .namespace('shop')
      .watch({ labelSelector: 'app=web', timeoutSeconds: 60, sendInitialEvents: true });
    await turn();
    expect(server.requests).toEqual([]);
    const watching = watch.subscribe((event) => events.push(event));
    const seen = async (count: number) => {
      while (events.length < count) await turn();
    };
    await seen(1);
    const metadata = { namespace: 'shop', name: 'a', labels: { app: 'web' } };
    server.objects.create(configMaps, { metadata });
    server.objects.create(configMaps, { metadata: { namespace: 'shop', name: 'other' } });
    server.objects.create(configMaps, { metadata: { ...metadata, name: 'b' } });
    await seen(3);
    expect(events.map(({ type }) => type)).toEqual(['BOOKMARK', 'ADDED', 'ADDED']);
    expect(events[1]).toMatchObject({
      key: 'shop/a',
      object: { kind: 'ConfigMap', apiVersion: 'v1' },
    });
    expect(server.openWatches).toHaveLength(1);
    watching.unsubscribe();
    await turn();
    expect(server.openWatches).toEqual([]);
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.query).toMatchObject({
      labelSelector: 'app=web',
      timeoutSeconds: '60',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
    });
  });

  it('T6, W6: errors with Aborted and closes the request when its signal aborts', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const errors: unknown[] = [];
    createResourceClient(client, configMaps)
      .watch({ signal })
      .subscribe({
        error: (error) => errors.push(error),
      });
    while (server.openWatches.length === 0) await turn();
    controller.abort();
    await turn();
    expect(errors).toMatchObject([{ reason: 'Aborted' }]);
    expect(server.openWatches).toEqual([]);
  });

  it('T6: leaves nothing on a signal that outlives it, nor does the lookup of a resource', async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    const watching = createResourceClient(client, configMaps).watch({ signal }).subscribe();
    while (server.openWatches.length === 0) await turn();
    watching.unsubscribe();
    await createRestMapper(createDiscovery(client)).forKind({ kind: 'ConfigMap' }, { signal });
    expect(added.mock.calls.length).toBeGreaterThan(1);
    expect(removed).toHaveBeenCalledTimes(added.mock.calls.length);
  });

  it('W6, T1: reads only while its demand is open', async () => {
    const door = new Subject<void>();
    let open = false;
    const events: WatchEvent<KubernetesObject>[] = [];
    const watching = createResourceClient(client, configMaps)
      .watch({ sendInitialEvents: true, demand: () => (open ? null : door) })
      .subscribe((event) => events.push(event));
    while (server.openWatches.length === 0) await turn();
    for (let turns = 0; turns < 20; turns++) await turn();
    expect(events).toEqual([]);
    open = true;
    door.next();
    while (events.length === 0) await turn();
    watching.unsubscribe();
  });

  it('W6: errors with the error of the server', async () => {
    const refused = scriptedServer([refusal(410, 'Expired')]);
    const errors: unknown[] = [];
    createResourceClient(refused.client, configMaps)
      .watch({ resourceVersion: '1' })
      .subscribe({ error: (error) => errors.push(error) });
    while (errors.length === 0) await turn();
    expect(errors).toMatchObject([{ code: 410, isExpired: true }]);
    expect(refused.asked[0]?.query).toMatchObject({ watch: 'true', resourceVersion: '1' });
  });

  it('D7, W6: tells onRefused of what it cannot read, and emits what follows', async () => {
    const lines = [
      '{"type":"ADDED","object":7}',
      '{"type":"ADDED","object":{"kind":"ConfigMap","metadata":{"name":"a","namespace":"shop"}}}',
    ];
    const { client: odd } = scriptedServer([{ body: `${lines.join('\n')}\n` }]);
    const refusals: string[] = [];
    const keys: string[] = [];
    await createResourceClient(odd, configMaps)
      .watch({ resourceVersion: '1', onRefused: ({ reason }) => refusals.push(reason.message) })
      .forEach((event) => {
        keys.push('key' in event ? event.key : event.type);
      });
    expect(refusals).toEqual([
      'configmaps: expected a ConfigMap, got a value that is not an object',
    ]);
    expect(keys).toEqual(['shop/a']);
  });
});

/** A body of these chunks. With `open`, it does not end. */
function stream(chunks: readonly Uint8Array[], open = false): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks[at++];
        if (chunk !== undefined) controller.enqueue(chunk);
        else if (!open) controller.close();
        else return new Promise<void>(() => {});
        return undefined;
      },
    },
    { highWaterMark: 0 },
  );
}

async function linesOf(body: Scripted, options = {}): Promise<string[]> {
  const { client } = scriptedServer([body]);
  const lines: string[] = [];
  await createResourceClient(client, pods)
    .log('shop/p', options)
    .forEach((line) => {
      lines.push(line);
    });
  return lines;
}

describe('a log', () => {
  const text = 'eins €\n\r\n\n🙂 zwei\r\ndrei ohne Ende';
  const lines = ['eins €', '\r', '', '🙂 zwei\r', 'drei ohne Ende'];
  const bytes = new TextEncoder().encode(text);

  it('C10: is emitted in lines, wherever the response was cut', async () => {
    for (let cut = 0; cut <= bytes.length; cut++) {
      const chunks = [bytes.subarray(0, cut), bytes.subarray(cut)];
      expect(await linesOf({ body: stream(chunks) }), `cut at ${cut}`).toEqual(lines);
    }
    const single = [...bytes].map((byte) => Uint8Array.of(byte));
    expect(await linesOf({ body: stream(single) })).toEqual(lines);
    expect(await linesOf({ body: '' })).toEqual([]);
    expect(await linesOf({ body: 'one\n' })).toEqual(['one']);
  });

  it('C10: replaces bytes that are not UTF-8, and keeps a byte order mark', async () => {
    const odd = Uint8Array.of(0xef, 0xbb, 0xbf, 97, 0xff, 10, 98);
    expect(await linesOf({ body: stream([odd]) })).toEqual(['\uFEFFa\uFFFD', 'b']);
  });

  it('C10: emits a line over the limit in pieces, and splits no character', async () => {
    const long = { body: `abcdefg\n🙂🙂\nxyz` };
    expect(await linesOf(long, { maxLineLength: 3 })).toEqual([
      ...['abc', 'def', 'g'],
      ...['🙂', '🙂'],
      'xyz',
    ]);
    expect(() =>
      createResourceClient(scriptedServer([]).client, pods).log('a/b', { maxLineLength: 0 }),
    ).toThrow(TypeError);
  });

  it('C10: sends its options, and requests text', async () => {
    const { client, asked } = scriptedServer([{ body: '' }]);
    const log = createResourceClient(client, pods).namespace('shop').log('p', {
      container: 'c',
      follow: true,
      previous: true,
      timestamps: true,
      tailLines: 0,
      sinceSeconds: 9,
      sinceTime: '2026-01-01T00:00:00Z',
      limitBytes: 100,
    });
    await log.forEach(() => {});
    expect(asked).toEqual([
      {
        method: 'GET',
        path: '/api/v1/namespaces/shop/pods/p/log',
        query: {
          container: 'c',
          follow: 'true',
          previous: 'true',
          timestamps: 'true',
          tailLines: '0',
          sinceSeconds: '9',
          sinceTime: '2026-01-01T00:00:00Z',
          limitBytes: '100',
        },
        accept: 'text/plain, */*',
        contentType: undefined,
        body: undefined,
      } satisfies Asked,
    ]);
  });

  it('C10: emits lines as they arrive, and unsubscribing aborts, also within a chunk', async () => {
    const { client, aborted } = scriptedServer([
      { body: stream([new TextEncoder().encode('a\nb\nc\n')], true) },
    ]);
    const seen: string[] = [];
    const following = createResourceClient(client, pods)
      .log('shop/p', { follow: true })
      .subscribe((line) => {
        seen.push(line);
        if (line === 'b') following.unsubscribe();
      });
    while (!following.closed) await turn();
    expect(seen).toEqual(['a', 'b']);
    expect(aborted).toEqual(['GET /api/v1/namespaces/shop/pods/p/log']);
  });

  it('T6, C10: ends when its signal aborts, and errors with the error of the server', async () => {
    const open = scriptedServer([{ body: stream([], true) }]);
    const controller = new AbortController();
    const { signal } = controller;
    const log = createResourceClient(open.client, pods).log('shop/p', { follow: true, signal });
    const failure = failureOf(log.forEach(() => {}));
    await turn();
    await turn();
    controller.abort();
    expect(await failure).toMatchObject({ reason: 'Aborted' });
    expect(open.aborted).toHaveLength(1);

    const refused = scriptedServer([refusal(400, 'BadRequest', 'container "c" is waiting')]);
    const asked = createResourceClient(refused.client, pods).log('shop/p');
    expect(await failureOf(asked.forEach(() => {}))).toMatchObject({
      code: 400,
      message: 'GET /api/v1/namespaces/shop/pods/p/log: container "c" is waiting',
    });
  });
});

describe('an eviction', () => {
  it('C1: is a POST of policy/v1, and rejects with a 429 if a budget forbids it', async () => {
    const { client, asked } = scriptedServer([
      { body: { kind: 'Status', status: 'Success' } },
      refusal(429, 'TooManyRequests', 'would violate the disruption budget'),
    ]);
    const shop = createResourceClient(client, pods).namespace('shop');
    const options = { gracePeriodSeconds: 5, preconditions: { uid: 'u' }, dryRun: true };
    expect(await shop.evict('p', options)).toMatchObject({ status: 'Success' });
    expect(asked[0]).toMatchObject({
      method: 'POST',
      path: '/api/v1/namespaces/shop/pods/p/eviction',
      body: {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { namespace: 'shop', name: 'p' },
        deleteOptions: {
          gracePeriodSeconds: 5,
          preconditions: { uid: 'u' },
          dryRun: ['All'],
        },
      },
    });
    expect(await failureOf(shop.evict('p'))).toMatchObject({ code: 429, isTooManyRequests: true });
    expect(asked).toHaveLength(2);
  });

  it.each([{}, '<html>', { kind: 'Pod' }])(
    'C5: is refused if a proxy answers %j with status 200',
    async (body) => {
      const { client } = scriptedServer([{ body }]);
      const failure = await failureOf(createResourceClient(client, pods).evict('shop/p'));
      expect(failure.message).toMatch(/expected a Status of success; is "http:/);
    },
  );
});

const status = { kind: 'Status', code: 429, reason: 'TooManyRequests', message: 'slow down' };
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** A client whose transport emits `head` and then the events of `rest`, all synchronously while it is subscribed. */
function answering(
  code: number,
  rest: (chunk: (bytes: Uint8Array) => boolean, fail: () => void) => void,
  headers: Record<string, string> = {},
) {
  const transport: Transport = {
    close: () => Promise.resolve(),
    send: () =>
      new Observable<TransportEvent>((subscriber) => {
        const header = (name: string) => headers[name] ?? null;
        subscriber.next({ kind: 'head', status: code, header });
        const chunk = (bytes: Uint8Array) => {
          if (!subscriber.closed) subscriber.next({ kind: 'chunk', bytes });
          return !subscriber.closed;
        };
        rest(chunk, () => subscriber.error(ApiError.local('Network', 'the connection broke')));
      }),
  };
  return createClient({ baseUrl: 'http://server', transport, qps: 0 });
}

/** Sends `text` until the subscriber leaves, two thousand times at most, and counts the chunks. */
function endless(text: string) {
  const bytes = bytesOf(text);
  const sent = { chunks: 0 };
  const rest = (chunk: (bytes: Uint8Array) => boolean) => {
    while (sent.chunks < 2_000) {
      sent.chunks++;
      if (!chunk(bytes)) return;
    }
  };
  return { sent, rest };
}

describe('a log', () => {
  it('T7, C10: a refused log errors with the status and its Retry-After, also if the body of the refusal is cut', async () => {
    for (const sent of ['', '{"kind":"Status","code":4', JSON.stringify(status)]) {
      const cut = (chunk: (bytes: Uint8Array) => boolean, fail: () => void) => {
        chunk(bytesOf(sent));
        fail();
      };
      const client = answering(429, cut, { 'retry-after': '7' });
      const log = createResourceClient(client, pods).log('shop/web');
      expect(await failureOf(log.forEach(() => {}))).toMatchObject({
        code: 429,
        reason: 'TooManyRequests',
        retryAfterMs: 7_000,
      });
    }
  });

  it('T7, C10: the body of a refusal is read without waiting for the consumer', async () => {
    const demands: (boolean | undefined)[] = [];
    const transport: Transport = {
      close: () => Promise.resolve(),
      send: ({ demand }) =>
        new Observable<TransportEvent>((subscriber) => {
          demands.push(demand?.() === null);
          subscriber.next({ kind: 'head', status: 429, header: () => null });
          demands.push(demand?.() === null);
          subscriber.complete();
        }),
    };
    const client = createClient({ baseUrl: 'http://server', transport });
    const log = createResourceClient(client, pods).log('shop/web', { demand: () => NEVER });
    expect(await failureOf(log.forEach(() => {}))).toMatchObject({ code: 429 });
    expect(demands).toEqual([false, true]);
  });

  it('T7, C10: only the start of an endless body of a refusal is read', async () => {
    const { sent, rest } = endless('x'.repeat(1024));
    const log = createResourceClient(answering(503, rest), pods).log('shop/web');
    expect(await failureOf(log.forEach(() => {}))).toMatchObject({ code: 503 });
    expect(sent.chunks).toBeLessThan(70);
  });

  it('T1, C10: unsubscribing stops a transport that emits synchronously', () => {
    const { sent, rest } = endless('line\n');
    const lines: string[] = [];
    createResourceClient(answering(200, rest), pods)
      .log('shop/web')
      .pipe(take(3))
      .subscribe((line) => lines.push(line));
    expect(lines).toHaveLength(3);
    expect(sent.chunks).toBeLessThan(5);
  });
});

describe('a transport that emits synchronously', () => {
  it('T1, W6: is unsubscribed when a list or a watch fails', async () => {
    const refused = endless('x'.repeat(1024));
    const { list } = createListWatch(answering(503, refused.rest), pods);
    await expect(failureOf(list({ resourceVersion: '' }).forEach(() => {}))).resolves.toMatchObject(
      { code: 503 },
    );
    expect(refused.sent.chunks).toBeLessThan(70);
    const garbage = endless('garbage\n');
    const { watch } = createListWatch(answering(200, garbage.rest), pods);
    const request = { resourceVersion: '1', timeoutSeconds: 60, initialEvents: false } as const;
    await expect(failureOf(watch(request).forEach(() => {}))).resolves.toMatchObject({
      reason: 'Malformed',
    });
    expect(garbage.sent.chunks).toBeLessThan(5);
  });

  it('T7: is unsubscribed when the response of a call is too long', async () => {
    const { sent, rest } = endless('x'.repeat(2 ** 20));
    const client = answering(200, rest);
    expect(await failureOf(client.request({ path: '/version' }))).toMatchObject({
      reason: 'TooLarge',
    });
    expect(sent.chunks).toBeLessThan(70);
  });
});
