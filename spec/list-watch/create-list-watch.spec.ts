import {
  ApiError,
  createClient,
  createListWatch,
  createMetadataListWatch,
  createPollingListWatch,
  createTableListWatch,
  defineResource,
  jsonDecoding,
  type KubernetesObject,
  type ListWatchOptions,
  type Refusal,
  type Transport,
  type TransportEvent,
  type WatchSignal,
} from 'rx-informer';
import { createFakeApiServer, type FakeApiServerOptions } from 'rx-informer/testing';
import { EMPTY, lastValueFrom, Observable, of, Subject } from 'rxjs';
import { toArray } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';

const resource = (plural: string, kind: string, namespaced = true) =>
  defineResource<KubernetesObject>({ group: '', version: 'v1', plural, kind, namespaced });
const pods = resource('pods', 'Pod');
const nodes = resource('nodes', 'Node', false);

function setUp(
  options: ListWatchOptions<KubernetesObject> = {},
  server: FakeApiServerOptions = {},
) {
  const time = new VirtualTime();
  const fake = createFakeApiServer({ scheduler: time, ...server });
  for (const [name, app] of Object.entries({ a: 'web', b: 'db', c: 'web' })) {
    fake.objects.create(pods, { metadata: { name, namespace: 'd', labels: { app } } });
  }
  const client = createClient({ baseUrl: 'http://fake', fetch: fake.fetch, scheduler: time });
  const listWatch = createListWatch(client, pods, { scheduler: time, ...options });
  return { time, fake, client, listWatch };
}

const LIST = { resourceVersion: '0', limit: 500 };
const WATCH = { resourceVersion: '4', timeoutSeconds: 300 };

describe('the decoding', () => {
  it('D36: is made once per collection by its option, otherwise by its client, otherwise objects are parsed completely', async () => {
    const made: string[] = [];
    const make = (by: string) => () => {
      made.push(by);
      return jsonDecoding();
    };
    const { client, listWatch } = setUp({ decoding: make('option') });
    expect(client.decoding).toBeUndefined();
    await lastValueFrom(listWatch.list(LIST));
    await lastValueFrom(listWatch.list(LIST));
    expect(made).toEqual(['option']);
    const transport: Transport = {
      send: () => EMPTY,
      decoding: make('client'),
      close: async () => {},
    };
    const other = createClient({ baseUrl: 'http://fake', transport });
    createListWatch(other, pods);
    createMetadataListWatch(other, pods);
    createListWatch(other, pods, { decoding: make('option') });
    expect(made).toEqual(['option', 'client', 'client', 'option']);
  });
});

describe('a LIST', () => {
  it('W3: a list carries selectors, page size and version', async () => {
    const { fake, listWatch } = setUp({
      labelSelector: 'app=web',
      fieldSelector: 'metadata.name!=c',
    });
    const parts = await lastValueFrom(listWatch.list(LIST).pipe(toArray()));
    expect(parts.flatMap(({ items }) => items).map(({ metadata }) => metadata?.name)).toEqual([
      'a',
    ]);
    expect(parts.at(-1)?.metadata).toEqual({ resourceVersion: '4' });
    expect(fake.requests.map(({ path, query }) => [path, query])).toEqual([
      [
        '/api/v1/pods',
        {
          labelSelector: 'app=web',
          fieldSelector: 'metadata.name!=c',
          limit: '500',
          resourceVersion: '0',
        },
      ],
    ]);
  });

  it('W1: a list of the newest version carries no version, a later page its token, and a match is sent as given', async () => {
    const { fake, listWatch } = setUp();
    const ask = (request: Parameters<typeof listWatch.list>[0]) =>
      lastValueFrom(listWatch.list(request).pipe(toArray()));
    const page = await ask({ resourceVersion: '', limit: 2 });
    const token = page.at(-1)?.metadata?.continue ?? '';
    expect(page.at(-1)?.metadata).toEqual({
      resourceVersion: '4',
      continue: token,
      remainingItemCount: 1,
    });
    await ask({ resourceVersion: '', limit: 2, continue: token });
    await ask({ resourceVersion: '3', resourceVersionMatch: 'NotOlderThan' });
    expect(fake.requests.map(({ query }) => query)).toEqual([
      { limit: '2' },
      { limit: '2', continue: token },
      { resourceVersion: '3', resourceVersionMatch: 'NotOlderThan' },
    ]);
  });

  it('R3: a list in pages at a version returns that version or a newer one', async () => {
    const { fake, listWatch } = setUp();
    const ask = (request: Parameters<typeof listWatch.list>[0]) =>
      lastValueFrom(listWatch.list(request).pipe(toArray()));
    // Watches from exactly version 2 might no longer be possible.
    const page = await ask({ resourceVersion: '2', limit: 2 });
    const { resourceVersion, continue: token } = page.at(-1)?.metadata ?? {};
    expect(resourceVersion).toBe('4');
    await ask({ resourceVersion: '', limit: 2, continue: token ?? '' });
    await ask({ resourceVersion: '2', limit: 2, resourceVersionMatch: 'Exact' });
    await ask({ resourceVersion: '2' });
    expect(fake.requests.map(({ query }) => query)).toEqual([
      { limit: '2', resourceVersion: '2', resourceVersionMatch: 'NotOlderThan' },
      { limit: '2', continue: token },
      { limit: '2', resourceVersion: '2', resourceVersionMatch: 'Exact' },
      { resourceVersion: '2' },
    ]);
  });

  it('W3: a list of a namespace requests the path of that namespace, which is the scope', async () => {
    const { fake, listWatch, client } = setUp({ namespace: 'd' });
    await lastValueFrom(listWatch.list(LIST).pipe(toArray()));
    expect(fake.requests[0]?.path).toBe('/api/v1/namespaces/d/pods');
    expect(listWatch.scope).toBe('d');
    expect(() => createListWatch(client, nodes, { namespace: 'd' })).toThrow(TypeError);
  });

  it('D6, D10: a failed list errors with the Status of the server and names the request', async () => {
    const { fake, listWatch } = setUp();
    fake.faults.failNext(undefined, { status: 429, message: 'slow', retryAfterSeconds: 7 });
    const error = await lastValueFrom(listWatch.list(LIST)).catch((each: unknown) => each);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 429, reason: 'TooManyRequests', retryAfterMs: 7_000 });
    expect(String(error)).toBe('ApiError: LIST v1/pods: slow');
    expect(fake.requests.length).toBe(1);
  });

  // Faults, seed 23: the Retry-After of a 429 was lost because its body was cut.
  it('T7: an error response whose body is cut is still reported as that response', async () => {
    for (const clean of [true, false]) {
      const { fake, listWatch } = setUp();
      fake.faults.failNext(undefined, { status: 429, retryAfterSeconds: 7 });
      fake.faults.truncateNext(undefined, { clean, keepBytes: 20 });
      const error = await lastValueFrom(listWatch.list(LIST)).catch((each: unknown) => each);
      expect(error).toMatchObject({ code: 429, retryAfterMs: 7_000 });
    }
  });

  it('D8: a list whose body ends early is an error, whether the connection ends cleanly or not', async () => {
    for (const clean of [true, false]) {
      const { fake, listWatch } = setUp();
      fake.faults.truncateNext(undefined, { clean });
      const error = await lastValueFrom(listWatch.list(LIST)).catch((each: unknown) => each);
      expect(error).toMatchObject({ code: 0, reason: clean ? 'Malformed' : 'Network' });
    }
  });
});

describe('a WATCH', () => {
  it('W3: a watch requests bookmarks and a timeout, and carries the selectors', async () => {
    const { time, fake, listWatch } = setUp({ labelSelector: 'app=web' });
    const watch = listWatch.watch(WATCH).subscribe();
    await time.advance(1);
    expect(fake.requests[0]?.query).toEqual({
      labelSelector: 'app=web',
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '300',
      resourceVersion: '4',
    });
    watch.unsubscribe();
  });

  it('W3: a streaming LIST requests the initial events', async () => {
    const { time, fake, listWatch } = setUp();
    const signals: WatchSignal<KubernetesObject>[] = [];
    const request = {
      ...WATCH,
      resourceVersion: '',
      resourceVersionMatch: 'NotOlderThan',
      sendInitialEvents: true,
    } as const;
    const watch = listWatch.watch(request).subscribe((each) => signals.push(each));
    await time.advance(1);
    expect(fake.requests[0]?.query).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '300',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
    });
    expect(signals.map(({ kind }) => kind)).toEqual(['opened', 'events']);
    const events = signals.flatMap((each) => (each.kind === 'events' ? each.events : []));
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'ADDED', 'ADDED', 'BOOKMARK']);
    watch.unsubscribe();
  });

  it('W3: a watch completes if the server closes it, and errors if the connection breaks', async () => {
    const { time, fake, listWatch } = setUp();
    const ends: unknown[] = [];
    const watch = () =>
      listWatch.watch(WATCH).subscribe({
        error: (error) => ends.push(error.reason),
        complete: () => ends.push('complete'),
      });
    watch();
    await time.advance(1);
    fake.faults.closeWatches();
    await time.advance(1);
    watch();
    await time.advance(1);
    fake.faults.dropWatches();
    await time.advance(1);
    expect(ends).toEqual(['complete', 'Network']);
  });

  it('D6: a watch emits the events before an invalid line, then the error', async () => {
    const { time, fake, listWatch } = setUp();
    const received: string[] = [];
    listWatch.watch(WATCH).subscribe({
      next: (signal) => received.push(signal.kind),
      error: (error) => received.push(error.message),
    });
    await time.advance(1);
    fake.objects.create(pods, { metadata: { name: 'x', namespace: 'd' } });
    await time.advance(1);
    const good = '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}\n';
    fake.faults.sendRaw(`${good}{"password":"hush"\n`);
    await time.advance(1);
    expect(received).toEqual([
      'opened',
      'events',
      'events',
      'WATCH v1/pods: a line of 18 characters is not JSON',
    ]);
    expect(fake.openWatches).toEqual([]);
  });
});

describe('tweak', () => {
  it('W3: tweak changes the query of each LIST and WATCH last', async () => {
    const { time, fake, listWatch } = setUp({
      labelSelector: 'app=web',
      tweak: (options) => {
        options['labelSelector'] = 'app=db';
        options['timeoutSeconds'] = '7';
      },
    });
    listWatch.list(LIST).subscribe();
    const watch = listWatch.watch(WATCH).subscribe();
    await time.advance(1);
    expect(
      fake.requests.map(({ query }) => [query['labelSelector'], query['timeoutSeconds']]),
    ).toEqual([
      ['app=db', '7'],
      ['app=db', '7'],
    ]);
    watch.unsubscribe();
  });
});

describe('a server without streaming lists', () => {
  it('W4: missing support for streaming lists is remembered per client and resource', () => {
    const { client, listWatch } = setUp();
    expect(listWatch.watchList).toBe(true);
    listWatch.onWatchListUnsupported?.();
    expect(listWatch.watchList).toBe(false);
    expect(createListWatch(client, pods, { labelSelector: 'app=web' }).watchList).toBe(false);
    expect(createListWatch(client, nodes).watchList).toBe(true);
    expect(createListWatch(setUp().client, pods).watchList).toBe(true);
  });

  it('W4: no streaming list is requested if the user disables them', () => {
    expect(setUp({ watchList: false }).listWatch.watchList).toBe(false);
  });
});

describe('the requests of a ListerWatcher', () => {
  it.each([
    [undefined, true],
    [Number.POSITIVE_INFINITY, true],
    [7, true],
    [6, false],
    [0, false],
  ])('W20: with %s connections left, a second watch may be open: %s', (connectionsLeft, may) => {
    const client = { ...setUp().client, connectionsLeft };
    const listWatch = createListWatch(client, pods);
    expect(listWatch.mayOverlap).toBe(may);
    expect(createPollingListWatch(listWatch).mayOverlap).toBe(false);
  });

  it('W6: nothing is sent before list() or watch() is subscribed', async () => {
    const { time, fake, listWatch } = setUp();
    listWatch.list(LIST);
    listWatch.watch(WATCH);
    await time.advance(1);
    expect(fake.requests).toEqual([]);
  });

  it('W6: unsubscribing aborts the request, and nothing is emitted afterwards', async () => {
    const { time, fake, listWatch } = setUp();
    const received: unknown[] = [];
    const watch = listWatch.watch(WATCH).subscribe((each) => received.push(each.kind));
    await time.advance(1);
    // The event has arrived, but its batch is not complete before the event loop turns.
    fake.objects.create(pods, { metadata: { name: 'x', namespace: 'd' } });
    watch.unsubscribe();
    await time.advance(1);
    expect(received).toEqual(['opened']);
    expect(fake.openWatches).toEqual([]);
    fake.faults.delay(50, { use: 'list' });
    const list = listWatch.list(LIST).subscribe((each) => received.push(each));
    await time.advance(10);
    list.unsubscribe();
    await time.advance(100);
    expect(received).toEqual(['opened']);
    expect(time.pending).toBe(0);
  });

  it('W6: an error within an emission aborts the request immediately, also with a transport that emits synchronously', () => {
    let aborted = 0;
    const transport: Transport = {
      send: () =>
        new Observable<TransportEvent>((subscriber) => {
          subscriber.next({ kind: 'head', status: 200, header: () => null });
          subscriber.next({ kind: 'chunk', bytes: new TextEncoder().encode('oops\n') });
          return () => aborted++;
        }),
      close: () => Promise.resolve(),
    };
    const client = createClient({ baseUrl: '', transport });
    const errors: string[] = [];
    createListWatch(client, pods)
      .watch(WATCH)
      .subscribe({ error: (error) => errors.push(error.reason) });
    expect([errors, aborted]).toEqual([['Malformed'], 1]);
  });
});

describe('a response', () => {
  const answering = (...events: TransportEvent[]) => {
    const transport: Transport = { send: () => of(...events), close: () => Promise.resolve() };
    return createListWatch(createClient({ baseUrl: '', transport }), pods);
  };
  const head = (status: number): TransportEvent => ({ kind: 'head', status, header: () => null });
  const chunk = (text: string): TransportEvent => ({
    kind: 'chunk',
    bytes: new TextEncoder().encode(text),
  });
  const failure = (...events: TransportEvent[]) =>
    lastValueFrom(answering(...events).list(LIST)).then(
      () => 'none',
      (error: ApiError) => error.message,
    );

  it('D6: a response without a head is a network error', async () => {
    expect(await failure()).toBe('LIST v1/pods: the connection ended before the response');
  });

  it('T3: the error response of a proxy is quoted if it is short text, but not if it is markup', async () => {
    expect(await failure(head(502), chunk('bad '), chunk('gateway\n'))).toBe(
      'LIST v1/pods: bad gateway',
    );
    expect(await failure(head(502), chunk('<html>hush</html>'))).toBe(
      'LIST v1/pods: the server answered 502, without a Status. Is this an API server, or a proxy?',
    );
  });

  it('T7: an endless error response is read only up to a limit', async () => {
    let sent = 0;
    const body = new Subject<TransportEvent>();
    const transport: Transport = { send: () => body, close: () => Promise.resolve() };
    const errors: unknown[] = [];
    createListWatch(createClient({ baseUrl: '', transport }), pods)
      .list(LIST)
      .subscribe({ error: (error) => errors.push(error.code) });
    body.next(head(500));
    while (body.observed && sent < 1_000) {
      body.next(chunk('x'.repeat(1_000)));
      sent++;
    }
    expect([sent, errors]).toEqual([66, [500]]);
  });

  it('R15: a watch signals that it is queued, that it is answered, and that bytes arrived without completing an event', () => {
    const kinds: string[] = [];
    const chunks = [{ kind: 'queued' } as const, head(200), chunk('{"type":'), chunk(' ')];
    answering(...chunks)
      .watch(WATCH)
      .subscribe({ next: ({ kind }) => kinds.push(kind), error: () => {} });
    expect(kinds).toEqual(['queued', 'opened', 'alive', 'alive']);
  });

  it('X7: the first chunk is emitted immediately, and the events of later ones as one batch, before the end', () => {
    const line = (version: number) =>
      chunk(`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"${version}"}}}\n`);
    const received: unknown[] = [];
    answering(head(200), line(1), line(2), line(3))
      .watch(WATCH)
      .subscribe({
        next: (signal) =>
          received.push(signal.kind === 'events' ? signal.events.length : signal.kind),
        complete: () => received.push('|'),
      });
    expect(received).toEqual(['opened', 1, 2, '|']);
  });

  it('D4: a refused object is reported to the onRefused of the options and of the request', async () => {
    const own: Refusal[] = [];
    const asked: Refusal[] = [];
    const { time, listWatch } = setUp({
      onRefused: (each) => own.push(each),
      transform: (each) => {
        if (each.metadata?.name === 'b') throw new Error('no');
        return each;
      },
    });
    listWatch.list({ ...LIST, onRefused: (each) => asked.push(each) }).subscribe();
    await time.advance(1);
    expect(own.map(({ key }) => key)).toEqual(['d/b']);
    expect(asked).toEqual(own);
  });
});

describe('the arguments of a list-watch', () => {
  const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
  const makers = { createListWatch, createMetadataListWatch, createTableListWatch };

  it.each(Object.entries(makers))('W16: %s refuses invalid selectors', (_name, make) => {
    const refused: [object, RegExp][] = [
      [{ labelSelector: 'a in b' }, /^label selector "a in b": found .* at position/],
      [{ labelSelector: 'app=web,' }, /^label selector/],
      [
        { labelSelector: { app: 'web' } },
        /labelSelector is \{app\}; it must be text; formatLabelSelector/,
      ],
      [{ labelSelector: 5 }, /labelSelector is 5; it must be text/],
      [{ fieldSelector: 'metadata.name' }, /^field selector "metadata.name": found the end/],
      [{ fieldSelector: ['a=b'] }, /fieldSelector is a list; it must be text/],
      [{ labelSelector: undefined }, /labelSelector is undefined/],
      [{ fieldSelector: null }, /fieldSelector is null/],
    ];
    for (const [options, message] of refused) {
      expect(() => make(client, pods, options), String(message)).toThrow(message);
      expect(() => make(client, pods, options)).toThrow(TypeError);
    }
    const labels = ['', 'app=web', 'app in (web,db),!canary', 'a!=b,c>5', ' a = b '];
    for (const labelSelector of labels) make(client, pods, { labelSelector });
    for (const fieldSelector of ['', 'spec.nodeName=', 'a==b\\,c,d!=e']) {
      make(client, pods, { fieldSelector });
    }
  });

  it.each(Object.entries(makers))(
    'W16: %s refuses an invalid namespace, and a namespace for a cluster-scoped resource',
    (_name, make) => {
      for (const namespace of ['.', '..', 'a/b', '../kube-system', 'a%2Fb', null, 5, {}]) {
        const options = { namespace } as object;
        expect(() => make(client, pods, options)).toThrow(/^pods: the namespace is .*; it must/);
        expect(() => make(client, pods, options)).toThrow(TypeError);
      }
      expect(() => make(client, nodes, { namespace: 'shop' })).toThrow('nodes is cluster-scoped');
      make(client, pods, { namespace: '' });
      make(client, nodes, { namespace: '' });
    },
  );

  it('W16: a selector is sent in the form in which it was given', async () => {
    const { fake, listWatch } = setUp({ labelSelector: ' app = web , tier!=x' });
    await lastValueFrom(listWatch.list(LIST));
    expect(fake.requests[0]?.query).toMatchObject({ labelSelector: ' app = web , tier!=x' });
  });
});
