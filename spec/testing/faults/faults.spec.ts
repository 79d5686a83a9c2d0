/** The faults of the fake API server; `holdBack`, which delivers bodies like a buffering proxy, also over a socket. */

import { configMaps } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';
import { VirtualTimeScheduler } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  atLeast,
  judgeRange,
  type NumericOption,
  wholeOrInfinite,
} from '../../models/numeric-range.ts';
import { VirtualTime } from '../../rx/virtual-time.ts';
import { eventually } from '../../support/patience.ts';
import { hangs, pod, pods, Wire } from '../wire.ts';

const BOOKMARKS = 'watch=1&allowWatchBookmarks=true';

describe.each(['in process', 'over HTTP'] as const)('faults, %s', (way) => {
  let time: VirtualTime;
  let server: FakeApiServer;
  let base = 'http://fake';
  let fetch: typeof globalThis.fetch;
  let close = async () => {};
  const aborts: AbortController[] = [];

  beforeEach(async () => {
    time = new VirtualTime();
    server = createFakeApiServer({ scheduler: time });
    fetch = server.fetch;
    if (way === 'in process') return;
    const served = await server.serve();
    base = served.url;
    fetch = globalThis.fetch;
    close = served.close;
  });
  afterEach(async () => {
    for (const abort of aborts.splice(0)) abort.abort();
    await close();
  });

  const ask = (path = '/api/v1/pods') => {
    const abort = new AbortController();
    aborts.push(abort);
    return fetch(base + path, { signal: abort.signal });
  };
  const watch = (query = 'watch=1') => Wire.open(fetch, query, base);
  /** Waits for a condition, because over a socket the server notices an event later. */
  const until = (is: () => boolean) => eventually(is);

  it('failNext answers with an error, a given number of times', async () => {
    const fault = server.faults.failNext(
      { use: 'list' },
      { status: 429, retryAfterSeconds: 3, times: 2 },
    );
    expect((await ask('/version')).status).toBe(200);
    const refused = await ask();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3']);
    expect(await refused.json()).toMatchObject({
      kind: 'Status',
      reason: 'TooManyRequests',
      details: { retryAfterSeconds: 3 },
    });
    expect([fault.hits, fault.active]).toEqual([1, true]);
    expect((await ask()).status).toBe(429);
    expect([fault.hits, fault.active]).toEqual([2, false]);
    expect((await ask()).status).toBe(200);
  });

  it('failNext answers with any body, and can be healed', async () => {
    const page = { status: 200, body: '<html>sign in</html>', contentType: 'text/html' };
    server.faults.failNext(undefined, page);
    const answer = await ask();
    expect([answer.headers.get('content-type'), await answer.text()]).toEqual([
      'text/html',
      page.body,
    ]);
    server.faults.failNext(undefined, page).heal();
    expect((await ask()).headers.get('content-type')).toBe('application/json');
  });

  it('matches method, resource, namespace, path and query', async () => {
    const all = {
      method: 'GET',
      resource: pods,
      namespace: 'shop',
      path: /pods$/,
      query: { limit: '1' },
    };
    const path = '/api/v1/namespaces/shop/pods?limit=1';
    const others = [
      { ...all, method: 'POST' },
      { ...all, namespace: 'other' },
      { ...all, path: '/api/v1/pods' },
      { ...all, query: { limit: '2' } },
    ];
    for (const match of others) server.faults.failNext(match, { status: 500 });
    expect((await ask(path)).status).toBe(200);
    server.faults.failNext(all, { status: 500 });
    expect((await ask(path)).status).toBe(500);
    server.faults.failNext(({ use }) => use === 'list', { status: 503 });
    expect((await ask()).status).toBe(503);
  });

  it('dropWatches breaks the connections of watches', async () => {
    const wire = await watch();
    server.objects.create(pods, pod('a'));
    expect(await wire.lines()).toEqual(['ADDED a']);
    expect(server.faults.dropWatches()).toBe(1);
    await expect(wire.chunk()).rejects.toThrow(TypeError);
    expect(server.openWatches).toEqual([]);
  });

  it('closeWatches ends watches cleanly, after the pending events', async () => {
    const wire = await watch();
    server.objects.create(pods, pod('a'));
    server.faults.closeWatches({ use: 'watch' });
    expect(await wire.lines()).toEqual(['ADDED a']);
    expect(await wire.chunk()).toBeUndefined();
    await until(() => server.openWatches.length === 0);
  });

  it('expireWatches and emitError send ERROR events', async () => {
    const expired = await watch();
    server.faults.expireWatches();
    expect(await expired.lines()).toEqual(['ERROR Expired']);
    expect(await expired.chunk()).toBeUndefined();
    const wire = await watch();
    const status = { code: 500, reason: 'InternalError' };
    server.faults.emitError(status, undefined, { staysOpen: true });
    expect(await wire.lines()).toEqual(['ERROR InternalError']);
    server.faults.emitError({ code: 429, reason: 'TooManyRequests' });
    expect(await wire.lines()).toEqual(['ERROR TooManyRequests']);
    expect(await wire.chunk()).toBeUndefined();
  });

  it('sendRaw sends any text or bytes', async () => {
    const wire = await watch();
    server.faults.sendRaw('{"type":"ADD');
    expect(await wire.chunk()).toBe('{"type":"ADD');
    server.faults.sendRaw(Uint8Array.of(0x7b, 0x0a));
    expect(await wire.chunk()).toBe('{\n');
  });

  it('silence holds events back until it is healed', async () => {
    const fault = server.faults.silence();
    const wire = await watch();
    server.objects.create(pods, pod('a'));
    const next = wire.lines();
    expect(await hangs(next)).toBe(true);
    expect((await ask()).status).toBe(200);
    fault.heal();
    expect(await next).toEqual(['ADDED a']);
  });

  it('halfOpen loses connections, also after it is healed', async () => {
    const wire = await watch();
    const fault = server.faults.halfOpen();
    server.objects.create(pods, pod('a'));
    const lost = ask();
    const next = wire.chunk();
    expect(await hangs(lost)).toBe(true);
    fault.heal();
    expect(await hangs(next)).toBe(true);
    expect(await hangs(lost)).toBe(true);
    expect((await ask()).status).toBe(200);
    wire.abort();
    await expect(next).rejects.toMatchObject({ name: 'AbortError' });
    await until(() => server.openWatches.length === 0);
  });

  it('neverAnswer accepts requests and answers none of them', async () => {
    const fault = server.faults.neverAnswer({ use: 'list' });
    expect(await hangs(ask())).toBe(true);
    expect((await ask('/version')).status).toBe(200);
    fault.heal();
    expect((await ask()).status).toBe(200);
  });

  it('refuse refuses connections', async () => {
    const fault = server.faults.refuse();
    await expect(ask()).rejects.toThrow(TypeError);
    expect(fault.hits).toBeGreaterThan(0);
    server.faults.healAll();
    expect([fault.active, (await ask()).status]).toEqual([false, 200]);
  });

  it('delay answers later, with the state at that time', async () => {
    const fault = server.faults.delay(40);
    const answer = ask();
    await until(() => time.pending === 1);
    await time.advance(39);
    expect(time.pending).toBe(1);
    server.objects.create(pods, pod('a'));
    await time.advance(1);
    expect((await (await answer).json()).items).toHaveLength(1);
    fault.heal();
  });

  it('truncateNext cuts a body, cleanly or not', async () => {
    server.objects.create(pods, pod('a'));
    server.faults.truncateNext();
    await expect(ask().then((answer) => answer.text())).rejects.toThrow(TypeError);
    server.faults.truncateNext({ use: 'list' }, { keepBytes: 10, clean: true });
    expect(await (await ask()).text()).toBe('{"kind":"P');
    expect(JSON.parse(await (await ask()).text()).items).toHaveLength(1);
  });

  it('withoutInitialEventsEnd and withoutBookmarks omit the end mark', async () => {
    server.objects.create(pods, pod('a'));
    const fault = server.faults.withoutInitialEventsEnd();
    const unmarked = await watch(BOOKMARKS);
    expect(await unmarked.lines()).toEqual(['ADDED a']);
    fault.heal();
    const marked = await watch(BOOKMARKS);
    expect(await marked.lines()).toEqual(['ADDED a', 'BOOKMARK 2']);
    server.faults.withoutBookmarks();
    const none = await watch(BOOKMARKS);
    expect(await none.lines()).toEqual(['ADDED a']);
  });
});

describe('faults of pending requests', () => {
  it('a delayed request sees the resources at the time of its response', async () => {
    const server = createFakeApiServer();
    server.faults.delay(5);
    const answer = server.fetch('http://fake/api/v1/pods');
    await Promise.resolve();
    server.removeResource(pods);
    expect((await answer).status).toBe(404);
  });

  it('a delayed request that is aborted leaves no timer and gets no response', async () => {
    const scheduler = new VirtualTimeScheduler();
    const server = createFakeApiServer({ scheduler });
    server.faults.delay(60_000);
    const timers = () => scheduler.actions.filter(({ closed }) => !closed).length;
    const abort = new AbortController();
    const answer = server.fetch('http://fake/api/v1/pods?watch=1', { signal: abort.signal });
    await eventually(() => expect(timers()).toBe(1));
    abort.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    expect(timers()).toBe(0);
    scheduler.flush();
    expect(server.openWatches).toEqual([]);
  });

  it('withoutBookmarks also stops the periodic bookmarks', async () => {
    const time = new VirtualTime();
    const server = createFakeApiServer({ bookmarkIntervalMs: 10, scheduler: time });
    const wire = await Wire.open(server.fetch, `${BOOKMARKS}&resourceVersion=1`);
    const first = wire.lines();
    await time.advance(10);
    expect(await first).toEqual(['BOOKMARK 1']);
    server.faults.withoutBookmarks();
    expect(await wire.isQuiet(time.advance(60))).toBe(true);
    wire.abort();
  });
});

it('a fault whose match names the resource by a text is refused, because it would match nothing', () => {
  const { faults } = createFakeApiServer();
  const match = { resource: 'pods' } as never;
  for (const cause of [() => faults.failNext(match, { status: 500 }), () => faults.refuse(match)]) {
    expect(cause).toThrow('faults: resource is "pods"; it must be the resource itself');
  }
});

describe('the numbers of a fault', () => {
  const { faults } = createFakeApiServer();
  const answer = { status: 500 };
  const whole = (from: number, to = Number.POSITIVE_INFINITY) => {
    const isWhole = wholeOrInfinite(from);
    return (value: unknown) => isWhole(value) && (value as number) <= to;
  };
  const finite = (from: number) => whole(from, Number.MAX_VALUE);
  it.each<NumericOption>([
    {
      option: 'failNext: times',
      takes: whole(1),
      use: (times) => faults.failNext({}, { ...answer, times }),
    },
    {
      option: 'failNext: status',
      takes: whole(200, 599),
      use: (status) => faults.failNext({}, { status }),
    },
    {
      option: 'truncateNext: times',
      takes: whole(1),
      use: (times) => faults.truncateNext({}, { times }),
    },
    {
      option: 'truncateNext: keepBytes',
      takes: finite(0),
      use: (keepBytes) => faults.truncateNext({}, { keepBytes }),
    },
    { option: 'loseEvents: oneIn', takes: whole(1), use: (oneIn) => faults.loseEvents(oneIn) },
    { option: 'delay: ms', takes: atLeast(0), use: (ms) => faults.delay(ms) },
    { option: 'holdBack: bytes', takes: whole(1), use: (bytes) => faults.holdBack({ bytes }) },
    { option: 'cutWatches: bytes', takes: finite(0), use: (bytes) => faults.cutWatches(bytes) },
    { option: 'repeatEvents: count', takes: finite(1), use: (count) => faults.repeatEvents(count) },
  ])('M13: $option is used as documented, or refused', (option) => judgeRange(option));

  it('M13: no status is taken that no response has', () => {
    for (const status of [99, 199, 600]) {
      expect(() => faults.failNext({}, { status })).toThrow(
        `failNext: status is ${status}; it must be a whole number from 200 to 599`,
      );
    }
    expect(faults.failNext({}, { status: 200 }).active).toBe(true);
  });
});

const WATCH = '/api/v1/configmaps?watch=true&resourceVersion=1&timeoutSeconds=600';
const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

describe.each(['in process', 'over a socket'] as const)('a body that is held back, %s', (way) => {
  async function setUp() {
    const server = createFakeApiServer();
    const served = await server.serve();
    endings.push(() => served.close());
    const fetch = way === 'in process' ? server.fetch : globalThis.fetch;
    const create = (bytes: number) =>
      server.objects.create(configMaps, {
        metadata: { namespace: 'a', name: `n${server.objects.resourceVersion}` },
        data: { text: 'x'.repeat(bytes) },
      } as never);
    /** Starts a watch. `text` is the part of its body received so far. */
    const watch = () => {
      const abort = new AbortController();
      endings.push(async () => abort.abort());
      const seen = { head: false, text: '', ended: false };
      const read = async () => {
        const answer = await fetch(`${served.url}${WATCH}`, { signal: abort.signal });
        seen.head = true;
        const decoder = new TextDecoder();
        for await (const chunk of answer.body ?? []) seen.text += decoder.decode(chunk);
        seen.ended = true;
      };
      read().catch(() => {});
      return seen;
    };
    /** Resolves after the answer to a later request. */
    const settle = async () => {
      await (await fetch(`${served.url}/api/v1/configmaps`)).text();
    };
    return { server, create, watch, settle };
  }

  it('is sent in pieces of the given size', async () => {
    const { server, create, watch, settle } = await setUp();
    server.faults.holdBack({ bytes: 1000, head: false });
    const seen = watch();
    create(300);
    await eventually(() => expect(seen.head).toBe(true));
    await settle();
    expect(seen.text).toBe('');
    create(1500);
    await eventually(() => expect(seen.text.length).toBe(2000));
  });

  it('is sent at its end, together with the head', async () => {
    const { server, create, watch, settle } = await setUp();
    server.faults.holdBack();
    const seen = watch();
    create(10);
    await eventually(() => expect(server.openWatches.length).toBe(1));
    await settle();
    expect(seen.head).toBe(false);
    server.faults.closeWatches();
    await eventually(() => expect(seen.ended).toBe(true));
    expect(seen.text).toMatch(/^{"type":"ADDED".*}\n$/);
  });

  it('is sent normally after the fault is healed, and lists are complete in any case', async () => {
    const { server, create, watch } = await setUp();
    const fault = server.faults.holdBack();
    expect((await server.fetch('http://fake/api/v1/configmaps')).status).toBe(200);
    fault.heal();
    const seen = watch();
    create(10);
    await eventually(() => expect(seen.text).toMatch(/}\n$/));
  });

  it('is cancelled when the client aborts while it waits for the head', async () => {
    const { server, watch } = await setUp();
    server.faults.holdBack();
    watch();
    await eventually(() => expect(server.openWatches.length).toBe(1));
    await endings.pop()?.();
    await eventually(() => expect(server.openWatches.length).toBe(0));
  });
});
