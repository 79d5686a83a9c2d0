/** Informers of a client whose server is silent, slow, or no longer there, in virtual time. */
import {
  ApiError,
  createClient,
  createListWatch,
  createSharedInformer,
  type InformerStatus,
  type InitialList,
  type KubeClientOptions,
  type Transport,
  type TransportEvent,
} from 'rx-informer';
import { configMaps, nodes, pods } from 'rx-informer/resources';
import {
  createFakeApiServer,
  type FakeApiServer,
  marbles,
  type RequestRecord,
} from 'rx-informer/testing';
import { concat, NEVER, of, type SchedulerLike, Subject } from 'rxjs';
import { map } from 'rxjs/operators';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { word } from '../reflector/rig.ts';
import { VirtualTime } from '../rx/virtual-time.ts';

type Answer = () => Promise<Response>;

const isPing = ({ query }: RequestRecord) => query['fieldSelector'] === 'metadata.name=rx-informer';

/** Clients of one fake server. `answers` replaces the answers of the server to new requests. */
function setUp(options: Partial<KubeClientOptions> = {}) {
  const time = new VirtualTime();
  const server = createFakeApiServer({ scheduler: time, random: () => 0.5 });
  server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
  /** What was sent, also if the server did not receive it. */
  const sent: { readonly atMs: number; readonly url: string }[] = [];
  const way: { answer: Answer | undefined; delayMs: number } = { answer: undefined, delayMs: 0 };
  const fetch: FakeApiServer['fetch'] = async (input, init) => {
    sent.push({ atMs: time.now(), url: String(input) });
    if (way.delayMs > 0) {
      await new Promise<void>((resolve) => time.schedule(() => resolve(), way.delayMs));
    }
    return way.answer === undefined ? server.fetch(input, init) : way.answer();
  };
  const clientOf = (more: Partial<KubeClientOptions> = {}) =>
    createClient({ baseUrl: 'http://fake', fetch, scheduler: time, ...options, ...more });
  const client = clientOf();
  const follow = (
    resource: Parameters<typeof createListWatch>[1] = pods,
    of = client,
    initialList: InitialList = 'auto',
  ) => {
    const source = createListWatch(of, resource, { scheduler: time });
    const informer = createSharedInformer(source, {
      scheduler: time,
      random: () => 0.5,
      initialList,
    });
    onTestFinished(() => informer.stop());
    const statuses: InformerStatus[] = [];
    informer.status$.subscribe((status) => statuses.push(status));
    informer.start();
    return Object.assign(informer, { statuses });
  };
  const touch = () =>
    server.objects.modify(pods, { namespace: 'shop', name: 'web' }, (draft) => {
      draft.metadata.labels = { at: String(time.now()) };
    });
  return {
    ...{ time, server, way, sent, client, clientOf, follow, touch },
    pings: () => server.requests.filter(isPing),
    /** The requests of the reflectors. */
    asked: () =>
      server.requests
        .filter((request) => !isPing(request))
        .map(word)
        .join(' '),
  };
}

afterEach(() => vi.unstubAllGlobals());

describe('a quiet server', () => {
  it('W27: after 12 to 15 s of silence one ping is sent, whatever the number of informers', async () => {
    const { time, follow, pings } = setUp();
    const informers = [pods, nodes, configMaps].map((resource) => follow(resource));
    await time.advance(11_900);
    expect(pings()).toEqual([]);
    await time.advance(3_200);
    expect(pings().map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /api/v1/pods']);
    expect(pings()[0]?.query).toEqual({
      ...{ limit: '1', resourceVersion: '0' },
      fieldSelector: 'metadata.name=rx-informer',
    });
    // Bookmarks arrive once a minute.
    await time.advance(600_000);
    expect(pings().length).toBeGreaterThan(600 / 21);
    expect(pings().length).toBeLessThan(600 / 12);
    for (const informer of informers) {
      expect(informer.status).toMatchObject({ live: true, reconnects: 0, attempt: 0 });
      await informer.stop();
    }
    expect(time.pending).toBe(0);
  });

  it('W27: a ping goes the way of its watch, also if a tweak leads there', async () => {
    const { time, client, pings } = setUp();
    const source = createListWatch(client, pods, {
      scheduler: time,
      labelSelector: 'app=web',
      tweak: (query) => {
        query['cluster'] = 'east';
        query['fieldSelector'] = 'spec.nodeName=n1';
      },
    });
    const informer = createSharedInformer(source, { scheduler: time });
    informer.start();
    await time.advance(16_000);
    expect(pings().map(({ query }) => query)).toEqual([
      {
        ...{ limit: '1', resourceVersion: '0', fieldSelector: 'metadata.name=rx-informer' },
        ...{ labelSelector: 'app=web', cluster: 'east' },
      },
    ]);
    await informer.stop();
  });

  it('W27: no ping is sent while one of the streams receives events', async () => {
    const { time, follow, touch, pings } = setUp();
    const informers = [follow(pods), follow(nodes)];
    for (let nth = 0; nth < 10; nth++) {
      await time.advance(11_000);
      touch();
    }
    expect(pings()).toEqual([]);
    for (const informer of informers) await informer.stop();
  });

  it('W27: no ping is sent without an open watch, in a hidden tab, or with an infinite livenessMs', async () => {
    const unwatched = setUp();
    await unwatched.client.request({ path: '/api/v1/pods' });
    const stopped = unwatched.follow();
    await unwatched.time.advance(1_000);
    await stopped.stop();
    expect(unwatched.time.pending).toBe(0);

    const never = setUp({ livenessMs: Number.POSITIVE_INFINITY });
    const quiet = never.follow();
    await never.time.advance(60_000);
    expect(never.pings()).toEqual([]);
    await quiet.stop();

    const { time, follow, pings } = setUp();
    follow();
    vi.stubGlobal('document', { visibilityState: 'hidden' });
    await time.advance(120_000);
    expect(pings()).toEqual([]);
    vi.stubGlobal('document', { visibilityState: 'visible' });
    await time.advance(15_500);
    expect(pings().length).toBe(1);
  });

  it('W27, T5: a ping does not wait for the rate limit and takes no turn from it', async () => {
    const { time, follow, pings, client, sent } = setUp({ qps: 0.01, burst: 2 });
    follow();
    await time.advance(50_000);
    expect(pings().length).toBeGreaterThan(2);
    const before = sent.length;
    void client.request({ path: '/version' });
    expect(sent.length).toBe(before + 1);
  });

  it('W27: the answer to a probe for buffering proxies is a sign of life, too', async () => {
    const { time, follow, server, pings } = setUp();
    follow(pods, undefined, 'pages');
    await time.advance(40_000);
    const [buffering] = server.requests.filter((request) => word(request) === 'P');
    expect(buffering?.atMs).toBe(20_000);
    const [first = 0, second = 0] = pings().map(({ atMs }) => atMs);
    expect(first).toBeLessThan(20_000);
    expect(second).toBeGreaterThanOrEqual(32_000);
  });
});

const status = (code: number): Answer => {
  const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message: 'no' };
  return async () => Response.json(body, { status: code });
};
const page = (code: number): Answer => {
  const headers = { 'content-type': 'text/html' };
  return async () => new Response('<h1>no</h1>', { status: code, headers });
};
const plain = (code: number): Answer => {
  return async () => new Response('Bad Gateway', { status: code });
};

describe('the answer to a ping', () => {
  it.each([
    ['401', status(401)],
    ['403', status(403)],
    ['404', status(404)],
    ['429', status(429)],
    ['404 of a proxy', page(404)],
    ['500 with a Status', status(500)],
    ['503 with a Status', status(503)],
  ])('W29: %s shows that the server lives', async (_, answer) => {
    const { time, way, follow, asked } = setUp();
    const informer = follow();
    await time.advance(1_000);
    way.answer = answer;
    await time.advance(50_000);
    expect(informer.statuses.filter(({ live }) => live).length).toBe(1);
    expect(informer.status).toMatchObject({ live: true, reconnects: 0 });
    expect(asked()).toBe('S');
  });

  it.each([
    [
      'no connection',
      () => Promise.reject(new TypeError('fetch failed')),
      /^WATCH v1\/pods: the connection to the server was lost: a ping failed: .*fetch failed/,
      15_500,
    ],
    ['502 of a proxy', plain(502), /a ping failed: a proxy answered 502/, 15_500],
    ['500 with a page', page(500), /a proxy answered 500/, 15_500],
    ['200 with a page', page(200), /a proxy answered 200/, 15_500],
    ['no answer', () => new Promise<Response>(() => {}), /the server answers no request/, 20_000],
  ] satisfies (readonly [string, Answer, RegExp, number])[])(
    'W29, I80, R30: after one failure (%s) no informer is live; the watches resume by version, without a list',
    async (_, answer, message, withinMs) => {
      const { time, way, follow, asked } = setUp();
      const informers = [follow(pods), follow(nodes)];
      await time.advance(1_000);
      way.answer = answer;
      while (informers.some(({ status }) => status.live)) await time.advance(10);
      expect(time.now()).toBeLessThanOrEqual(withinMs);
      while (informers[0]?.status.error === undefined) await time.advance(10);
      expect(time.now()).toBeLessThan(31_500);
      expect(informers[0].status.error.message).toMatch(message);
      // The rows may be old since the server was last heard, and not only since that was noticed.
      for (const { status } of informers) expect(status.staleSinceMs).toBeLessThanOrEqual(1_000);
      way.answer = undefined;
      await time.advance(120_000);
      for (const { status } of informers) {
        expect([status.live, status.relists, status.error]).toEqual([true, 0, undefined]);
      }
      expect(asked()).toMatch(/^S S( W\d+)+$/);
      for (const informer of informers) await informer.stop();
      expect(time.pending).toBe(0);
    },
  );

  it('W29: a ping whose credentials fail is no failure of the server, and costs no watch', async () => {
    const { time, way, follow, asked, sent } = setUp();
    const informer = follow();
    await time.advance(1_000);
    way.answer = () => Promise.reject(ApiError.local('Credentials', 'the plugin failed'));
    await time.advance(50_000);
    expect(sent.length).toBeGreaterThan(3);
    expect(informer.statuses.filter(({ live }) => live).length).toBe(1);
    expect(informer.status).toMatchObject({ live: true, reconnects: 0 });
    expect(asked()).toBe('S');
    await informer.stop();
    expect(time.pending).toBe(0);
  });

  it('R30: the lost watches of many informers are requested again at different times', async () => {
    const { time, way, server, client } = setUp();
    const informers = Array.from({ length: 20 }, (_, nth) => {
      const namespace = `team-${nth}`;
      const source = createListWatch(client, pods, { namespace, scheduler: time });
      return createSharedInformer(source, { scheduler: time, random: () => (nth + 0.5) / 21 });
    });
    for (const informer of informers) informer.start();
    await time.advance(1_000);
    way.answer = plain(502);
    await time.advance(10_500);
    while (informers.some(({ status }) => status.live)) await time.advance(10);
    way.answer = undefined;
    await time.advance(5_000);
    const times = server.requests.slice(20).filter((each) => !isPing(each));
    expect(new Set(times.map(({ atMs }) => atMs)).size).toBe(20);
    for (const informer of informers) await informer.stop();
  });

  it('W29: only the time after the request was sent counts', async () => {
    const time = new VirtualTime();
    const connection = new Subject<TransportEvent>();
    const head: TransportEvent = { kind: 'head', status: 200, header: () => null };
    const listed = new TextEncoder().encode(
      '{"kind":"List","metadata":{"resourceVersion":"1"},"items":[]}',
    );
    const transport = {
      send: ({ query = {} }: { query?: Readonly<Record<string, string>> | undefined }) => {
        if (query['fieldSelector'] !== undefined)
          return concat(of({ kind: 'queued' } as const), connection);
        if (query['watch'] === 'true') return concat(of(head), NEVER);
        return of(head, { kind: 'chunk', bytes: listed } as const);
      },
      close: () => Promise.resolve(),
    };
    const client = createClient({ baseUrl: '', transport, scheduler: time });
    const source = createListWatch(client, pods, { scheduler: time });
    const informer = createSharedInformer(source, { scheduler: time, initialList: 'pages' });
    informer.start();
    await time.advance(80_000);
    expect(informer.status.live).toBe(true);
    await informer.stop();

    const second = setUp();
    const asleep = second.follow();
    await second.time.advance(1_000);
    second.way.answer = () => new Promise(() => {});
    while (second.sent.length < 2) await second.time.advance(100);
    await second.time.advance(3_000);
    second.time.jump(15_000);
    await second.time.advance(1_000);
    expect(asleep.status.live).toBe(true);
    await second.time.advance(3_000);
    expect(asleep.status.live).toBe(false);
    await asleep.stop();
  });
});

describe('a slow server', () => {
  it('R30: 500 clients of a server that answers after 8 s keep their watches and send no list', async () => {
    const { time, way, clientOf, follow, asked, server, touch } = setUp();
    const clients = Array.from({ length: 500 }, () => clientOf());
    const informers = clients.map((client) => follow(pods, client));
    await time.advance(1_000);
    const before = asked();
    way.delayMs = 8_000;
    await time.advance(25_000);
    expect(asked()).toBe(before);
    expect(server.openWatches.length).toBe(500);
    // Each ping without an answer in time is shown, for the 3 s until the answer arrives.
    expect(
      informers.every(({ statuses }) => statuses.some(({ live, synced }) => synced && !live)),
    ).toBe(true);
    expect(informers.every(({ status }) => status.live)).toBe(true);
    touch();
    await time.advance(100);
    expect(informers.filter(({ status }) => status.live && status.reconnects === 0).length).toBe(
      500,
    );
    for (const informer of informers) await informer.stop();
  });
});

describe('a marble test', () => {
  /** A server whose watches stay silent, and which answers pings with `status`. */
  function silent(status: number, scheduler: SchedulerLike) {
    const seen = { pings: 0 };
    const head = (code: number): TransportEvent => ({
      ...{ kind: 'head', status: code, header: () => null },
    });
    const transport: Transport = {
      send: ({ query }) => {
        if (query?.['fieldSelector'] === undefined) return concat(of(head(200)), NEVER);
        seen.pings++;
        return of(head(status));
      },
      close: () => Promise.resolve(),
    };
    const client = createClient({ baseUrl: 'http://fake', transport, scheduler });
    const source = createListWatch(client, pods, { scheduler });
    const request = { resourceVersion: '1', timeoutSeconds: 300 };
    return Object.assign(seen, { kind$: source.watch(request).pipe(map(kindOf)) });
  }
  const kindOf = ({ kind }: { readonly kind: string }) => kind;

  it('W27: of a silent watch ends when the watch is unsubscribed, because pings end with it', () => {
    marbles(({ scheduler, expectObservable, flush }) => {
      const seen = silent(200, scheduler);
      expectObservable(seen.kind$, '60s !').toBe('o', { o: 'opened' });
      flush();
      expect(seen.pings).toBeGreaterThanOrEqual(3);
      expect(seen.pings).toBeLessThanOrEqual(5);
    });
  });

  it('W29: of a watch whose server is gone ends with the error of the watch', () => {
    marbles(({ scheduler, flush }) => {
      const seen = silent(502, scheduler);
      let endMs = 0;
      seen.kind$.subscribe({ error: () => (endMs = scheduler.now()) });
      flush();
      expect([seen.pings, endMs >= 12_000, endMs <= 15_000]).toEqual([1, true, true]);
    });
  });
});
