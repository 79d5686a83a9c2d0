/** The streams of a page: closed while it is hidden or left, and held until the code of their turns is loaded. */
import {
  type ApiError,
  createClient,
  type KubeClient,
  type KubeClientOptions,
  type TransportRequest,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { Subscription } from 'rxjs';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadTurns } from '../../lib/transport/page/page-streams.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import { eventually } from '../support/patience.ts';
import { FakePage } from './page-rig.ts';

// Otherwise the first stream of this file would wait for it in real time.
beforeAll(async () => {
  await loadTurns();
});
afterEach(() => vi.unstubAllGlobals());

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a page that is hidden', () => {
  let lastPort = 9000;
  /** A client in a page that sends watches which never end. */
  function inPage(options: Partial<KubeClientOptions> = {}) {
    const time = new VirtualTime();
    const page = new FakePage();
    page.install();
    const sent: string[] = [];
    const aborted: string[] = [];
    const log: string[] = [];
    const client: KubeClient = createClient({
      baseUrl: 'http://127.0.0.1:8001',
      scheduler: time,
      fetch: (url, init) => {
        sent.push(new URL(url).pathname);
        init?.signal?.addEventListener('abort', () => aborted.push(new URL(url).pathname));
        return new Promise(() => undefined);
      },
      ...options,
    });
    const watch = (name: string) =>
      client.send({ method: 'GET', path: `/${name}`, use: 'watch' }).subscribe({
        next: (event) => log.push(`${time.now()} ${name} ${event.kind}`),
        error: ({ reason }: ApiError) => log.push(`${time.now()} ${name} # ${reason}`),
      });
    return { time, page, sent, aborted, log, client, watch };
  }

  it('T66: closes watches after a grace, and not if it is shown again before', async () => {
    const { time, page, log, aborted, watch } = inPage();
    watch('a');
    page.show(false);
    await time.advance(59_000);
    page.show(true);
    page.show(true);
    await time.advance(59_000);
    page.show(false);
    page.show(false);
    await time.advance(59_999);
    expect(aborted).toEqual([]);
    await time.advance(1);
    expect(aborted).toEqual(['/a']);
    expect(log).toEqual(['178000 a # Yielded']);
  });

  it('T66: sends a stream after it is shown, although no stream was there to hear of that', async () => {
    const { time, page, sent, log, watch } = inPage();
    watch('a');
    page.show(false);
    await time.advance(60_000);
    expect(log).toEqual(['60000 a # Yielded']);
    page.show(true);
    const watching = watch('b');
    await time.advance(1_000);
    expect(sent).toEqual(['/a', '/b']);
    watching.unsubscribe();
    await time.advance(1_000);
  });

  it('T66: sends nothing while it is hidden, says so, and sends when it is shown', async () => {
    const { time, page, log, sent, client } = inPage();
    client.awake$?.subscribe();
    page.show(false);
    await time.advance(60_000);
    const reasons: (string | undefined)[] = [];
    client.send({ method: 'GET', path: '/b', use: 'watch' }).subscribe((event) => {
      log.push(event.kind);
      if (event.kind === 'queued') reasons.push(event.reason);
    });
    await time.advance(3_600_000);
    expect([sent, log]).toEqual([[], ['queued']]);
    expect(reasons[0]).toContain('The tab is hidden');
    page.show(true);
    expect([sent, log]).toEqual([['/b'], ['queued', 'sending']]);
  });

  it('T66: leaves no timer when its last stream leaves within the grace', async () => {
    const { time, page, watch } = inPage();
    const watching = watch('a');
    page.show(false);
    await time.advance(1_000);
    watching.unsubscribe();
    await time.advance(1_000);
    expect(time.pending).toBe(0);
  });

  it('T66: a grace of Infinity keeps watches open, but not in a page that is left', async () => {
    const { time, page, aborted, watch } = inPage({ hiddenGraceMs: Number.POSITIVE_INFINITY });
    watch('a');
    page.show(false);
    await time.advance(10_000_000);
    expect(aborted).toEqual([]);
    page.emit('pagehide');
    expect(aborted).toEqual(['/a']);
  });

  it.each(['pagehide', 'freeze'] as const)('T66: %s closes everything at once', async (name) => {
    const { page, aborted, watch, client } = inPage();
    watch('a');
    client.send({ method: 'GET', path: '/list', use: 'list' }).subscribe({ error: () => {} });
    client.send({ method: 'GET', path: '/call', use: 'call' }).subscribe();
    if (name === 'pagehide') page.emit(name);
    else page.emitOnDocument(name);
    expect(aborted.toSorted()).toEqual(['/a', '/list']);
  });

  // Over HTTP/1.1, and without a limit, where nothing takes turns.
  describe.each([undefined, Number.POSITIVE_INFINITY])('with maxStreams %s', (maxStreams) => {
    /** Streams with responses that the test writes. */
    function streams() {
      const time = new VirtualTime();
      const page = new FakePage();
      // The slots of an origin are those of all clients of this file.
      const origin = `http://127.0.0.1:${++lastPort}`;
      page.install(origin);
      const log: string[] = [];
      const bodies = new Map<string, ReadableStreamDefaultController<Uint8Array>>();
      const client = createClient({
        baseUrl: origin,
        scheduler: time,
        maxStreams,
        fetch: (url, { signal } = {}) => {
          const { pathname } = new URL(url);
          log.push(`sent ${pathname}`);
          signal?.addEventListener('abort', () => log.push(`closed ${pathname}`));
          const body = new ReadableStream<Uint8Array>({
            start: (controller) => {
              bodies.set(pathname, controller);
            },
          });
          return Promise.resolve(new Response(body));
        },
      });
      // As an informer does, so that the page is listened to between two streams.
      client.awake$?.subscribe();
      const send = (name: string, request: Partial<TransportRequest> = {}) => {
        const path = `/${name}`;
        return client.send({ method: 'GET', path, use: 'watch', ...request }).subscribe({
          next: ({ kind }) => {
            if (kind === 'queued') log.push(`queued ${path}`);
          },
          error: ({ reason }: ApiError) => log.push(`${reason} ${path}`),
          complete: () => log.push(`done ${path}`),
        });
      };
      /** What has happened since the last call. */
      const news = async () => {
        await time.advance(200);
        return log.splice(0);
      };
      return { time, page, client, bodies, send, news };
    }

    it('T66: in a hidden tab watches end, lists finish, and nothing else is sent until it is shown', async () => {
      const { time, page, bodies, send, news } = streams();
      send('watch');
      send('list', { use: 'list' });
      let isListed = false;
      const stream = { query: { sendInitialEvents: 'true' }, mayYield: () => isListed };
      send('stream', stream);
      page.show(false);
      await time.advance(60_000);
      expect(await news()).toEqual([
        'sent /watch',
        'sent /list',
        'sent /stream',
        'Yielded /watch',
        'closed /watch',
      ]);
      send('late');
      send('later', { use: 'list' });
      send('page', { use: 'list', query: { continue: 'token' } });
      expect(await news()).toEqual(['queued /late', 'queued /later', 'sent /page']);
      bodies.get('/list')?.close();
      expect(await news()).toEqual(['done /list', 'closed /list']);
      bodies.get('/stream')?.enqueue(new Uint8Array(1));
      expect(await news()).toEqual([]);
      isListed = true;
      bodies.get('/stream')?.enqueue(new Uint8Array(1));
      expect(await news()).toEqual(['Yielded /stream', 'closed /stream']);
      page.show(true);
      expect(await news()).toEqual(['sent /later', 'sent /late']);
    });

    it('T66: a streaming list that does not say when it is listed is a watch from its first bytes on', async () => {
      const { time, page, bodies, send, news } = streams();
      send('stream', { query: { sendInitialEvents: 'true' } });
      page.show(false);
      await time.advance(60_000);
      expect(await news()).toEqual(['sent /stream']);
      bodies.get('/stream')?.enqueue(new Uint8Array(1));
      expect(await news()).toEqual(['Yielded /stream', 'closed /stream']);
    });

    it('T66: a page that is left or frozen ends everything, whatever it is', async () => {
      const { time, page, send, news } = streams();
      send('watch');
      send('list', { use: 'list' });
      send('page', { use: 'list', query: { continue: 'token' } });
      await news();
      page.show(false);
      await time.advance(60_000);
      await news();
      page.emit('pagehide');
      expect((await news()).toSorted()).toEqual([
        'Yielded /list',
        'Yielded /page',
        'closed /list',
        'closed /page',
      ]);
      send('next', { use: 'list', query: { continue: 'token' } });
      expect(await news()).toEqual(['queued /next']);
      page.show(true);
      expect(await news()).toEqual(['sent /next']);
    });

    it('T66: a stream that another one unsubscribes when the page is shown is not sent', async () => {
      const { time, page, client, send, news } = streams();
      page.show(false);
      await time.advance(60_000);
      client
        .send({ method: 'GET', path: '/first', use: 'watch' })
        .subscribe(({ kind }) => kind === 'sending' && second.unsubscribe());
      const second = send('second');
      await news();
      page.show(true);
      expect(await news()).toEqual(['sent /first']);
    });
  });

  /** Streams in a page with one slot, whose responses have no body until `complete` is called. */
  function withOneSlot() {
    const time = new VirtualTime();
    const page = new FakePage();
    // The slots of an origin are those of all clients of this file.
    const baseUrl = `http://127.0.0.1:${++lastPort}`;
    page.install(baseUrl);
    const sent: string[] = [];
    const bodies = new Map<string, ReadableStreamDefaultController<Uint8Array>>();
    const client = createClient({
      ...{ baseUrl, scheduler: time, maxStreams: 1 },
      fetch: (url) => {
        const { pathname } = new URL(url);
        sent.push(pathname);
        const start = (body: ReadableStreamDefaultController<Uint8Array>) => {
          bodies.set(pathname, body);
        };
        return Promise.resolve(new Response(new ReadableStream({ start })));
      },
    });
    client.awake$?.subscribe();
    const list = (name: string, page?: 'page') =>
      client.send({
        ...{ method: 'GET', path: `/${name}`, use: 'list' },
        ...(page && { query: { continue: 'token' } }),
      });
    const complete = (name: string) => bodies.get(`/${name}`)?.close();
    return { time, page, sent, list, complete };
  }

  it('T66: a later page of a list does not wait for a slot in a hidden tab', async () => {
    const { time, page, sent, list } = withOneSlot();
    list('a').subscribe();
    list('waits', 'page').subscribe();
    expect(sent).toEqual(['/a']);
    page.show(false);
    await time.advance(60_000);
    expect(sent).toEqual(['/a', '/waits']);
    list('late', 'page').subscribe();
    expect(sent).toEqual(['/a', '/waits', '/late']);
  });

  it('T62: the next page of a list takes the slot of the page before it', async () => {
    const { time, sent, list, complete } = withOneSlot();
    list('1').subscribe({ complete: () => list('2', 'page').subscribe() });
    list('other').subscribe();
    await time.advance(1);
    complete('1');
    await time.advance(200);
    expect(sent).toEqual(['/1', '/2']);
  });

  it('T62: when a page is shown, its streams are sent in the order of their turns', async () => {
    const { time, page, sent, list, complete } = withOneSlot();
    page.emit('pagehide');
    list('list').subscribe();
    list('page', 'page').subscribe();
    page.show(true);
    expect(sent).toEqual(['/page']);
    await time.advance(1);
    complete('page');
    await time.advance(200);
    expect(sent).toEqual(['/page', '/list']);
  });

  it('R29: emits awake$ when it is shown after it was away, when it is online, and after a sleep', async () => {
    const { time, page, client } = inPage();
    const awake: number[] = [];
    const subscription = client.awake$?.subscribe(() => awake.push(time.now()));
    await time.advance(1_000);
    page.show(false);
    page.show(true);
    page.emit('online');
    await time.advance(30_000);
    page.show(false);
    await time.advance(60_000);
    page.show(true);
    expect(awake).toEqual([1_000, 91_000]);
    time.jump(3_600_000);
    await time.advance(10_000);
    expect(awake).toHaveLength(3);
    subscription?.unsubscribe();
    expect(time.pending).toBe(0);
  });

  it('T66: outside of a page nothing waits and nothing is heard', async () => {
    vi.unstubAllGlobals();
    expect(createClient({ baseUrl: 'http://host' }).awake$).toBeUndefined();
    await settle();
  });
});

describe('the code of the turns', () => {
  const taking = '../../lib/transport/page/taking-turns.ts' as const;
  afterEach(() => {
    vi.doUnmock(taking);
    vi.resetModules();
  });

  /** A new copy of the library in a page, as after a reload, where the code of the turns is loaded by `load`. */
  async function reloaded(load: () => object) {
    vi.resetModules();
    let loads = 0;
    vi.doMock(taking as string, () => {
      loads++;
      return load();
    });
    const library = await import('rx-informer');
    const { loadTurns: loadAgain } = await import('../../lib/transport/page/page-streams.ts');
    const page = new FakePage();
    page.install();
    const server = createFakeApiServer();
    const clientOf = (options: Partial<KubeClientOptions> = {}) =>
      library.createClient({
        baseUrl: 'http://127.0.0.1:8001',
        fetch: server.fetch,
        ...options,
      });
    return {
      ...library,
      loadTurns: loadAgain,
      page,
      server,
      clientOf,
      get loads() {
        return loads;
      },
    };
  }
  const watch = {
    method: 'GET',
    path: '/api/v1/pods',
    query: { watch: 'true' },
    use: 'watch',
  } as const;

  /** The same, where the code arrives when the test says so. */
  async function waiting() {
    let arrive = () => {};
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const rig = await reloaded(async () => {
      await arrived;
      return vi.importActual(taking);
    });
    const paths = () => rig.server.requests.map(({ path }) => path);
    return Object.assign(rig, { arrive, paths });
  }

  it('T69: is loaded before the first stream, which is queued until then', async () => {
    const { clientOf, server, arrive } = await waiting();
    const client = clientOf();
    const kinds: string[] = [];
    const first = client.send(watch).subscribe(({ kind }) => kinds.push(kind));
    const gone = client.send({ ...watch, path: '/api/v1/nodes' }).subscribe();
    // Calls take no turns.
    await client.request({ path: '/version' });
    expect([kinds, server.requests.map(({ path }) => path)]).toEqual([['queued'], ['/version']]);
    gone.unsubscribe();
    arrive();
    await eventually(() => expect(kinds).toContain('head'));
    expect(kinds.slice(0, 3)).toEqual(['queued', 'sending', 'head']);
    expect(server.requests.map(({ path }) => path)).toEqual(['/version', '/api/v1/pods']);
    first.unsubscribe();
    // Later clients do not wait, not even for a promise.
    const later: string[] = [];
    const second = clientOf()
      .send(watch)
      .subscribe(({ kind }) => later.push(kind));
    expect(later).toEqual([]);
    second.unsubscribe();
  });

  it('T62: streams that wait for it are sent in the order in which they were made', async () => {
    const rig = await waiting();
    const client = rig.clientOf();
    const streams = new Subscription();
    const open = (name: string, sending = () => {}) => {
      const event$ = client.send({ ...watch, path: `/api/v1/${name}` });
      streams.add(event$.subscribe(({ kind }) => kind === 'sending' && sending()));
    };
    open('pods', () => open('secrets'));
    open('nodes');
    rig.arrive();
    await eventually(() => expect(rig.paths()).toHaveLength(3));
    expect(rig.paths()).toEqual(['/api/v1/pods', '/api/v1/nodes', '/api/v1/secrets']);
    expect(rig.loads).toBe(1);
    streams.unsubscribe();
  });

  it('T66: a stream that waits for it is not sent while the page is away', async () => {
    const rig = await waiting();
    const log: string[] = [];
    const client = rig.clientOf();
    const stream = client.send(watch).subscribe((event) => {
      log.push(event.kind === 'queued' ? `queued ${event.reason?.slice(0, 17)}` : event.kind);
    });
    rig.page.emit('pagehide');
    rig.arrive();
    await rig.loadTurns();
    await settle();
    expect([log, rig.paths()]).toEqual([['queued undefined', 'queued The tab is hidden'], []]);
    rig.page.emit('pageshow');
    await eventually(() => expect(log.slice(2)).toEqual(['sending', 'head']));
    stream.unsubscribe();
  });

  it('T6: a stream that waits for it ends when its transport is closed', async () => {
    const rig = await waiting();
    const { fetch } = rig.server;
    const transport = rig.createFetchTransport({ baseUrl: 'http://127.0.0.1:8001', fetch });
    const reasons: string[] = [];
    transport.send(watch).subscribe({ error: ({ reason }: ApiError) => reasons.push(reason) });
    await transport.close();
    expect(reasons).toEqual(['Stopped']);
    rig.arrive();
    await rig.loadTurns();
    await settle();
    expect(rig.paths()).toEqual([]);
  });

  it.each([
    ['over HTTP/2', {}, 'h2'],
    ['with maxStreams Infinity', { maxStreams: Number.POSITIVE_INFINITY }, 'http/1.1'],
  ])('T69: is not loaded %s', async (_, options, nextHopProtocol) => {
    const rig = await reloaded(() => vi.importActual(taking));
    const entry = { name: 'https://host/', nextHopProtocol };
    const getEntriesByType = (type: string) => (type === 'navigation' ? [entry] : []);
    vi.stubGlobal('performance', { now: () => 0, getEntriesByType });
    const kinds: string[] = [];
    const client = rig.clientOf({ baseUrl: 'https://host', ...options });
    const stream = client.send(watch).subscribe(({ kind }) => kinds.push(kind));
    expect(kinds).toEqual([]);
    await eventually(() => expect(kinds).toEqual(['head']));
    expect(rig.loads).toBe(0);
    stream.unsubscribe();
  });

  it('T69: that fails to load is an error of the status, and is loaded again', async () => {
    let isOffline = true;
    const rig = await reloaded(() => {
      if (isOffline) throw new TypeError('Failed to fetch dynamically imported module');
      return vi.importActual(taking);
    });
    const informer = rig.createSharedInformer(rig.createListWatch(rig.clientOf(), pods), {
      backoff: () => 10,
    });
    const errors = new Set<string>();
    informer.status$.subscribe(({ error }) => errors.add(`${error?.reason} ${error?.message}`));
    informer.start();
    await eventually(() => expect(rig.loads).toBeGreaterThanOrEqual(2));
    expect([...errors].join()).toMatch(
      /Network GET .*: the code of the turns could not be loaded: .*reload the page/,
    );
    expect(rig.server.requests).toEqual([]);
    isOffline = false;
    await informer.whenSynced({ timeoutMs: 10_000 });
    await informer.stop();
  });
});
