/** Edge cases of the transport over undici: errors, queues, dispatchers of the caller, and lists whose answer begins late, in virtual time. */
import { channel } from 'node:diagnostics_channel';
import { gzipSync } from 'node:zlib';
import { ApiError, createClient, createListWatch, createSharedInformer } from 'rx-informer';
import { createUndiciTransport, type UndiciTransportOptions } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { Subject, timer } from 'rxjs';
import { expect, it, onTestFinished } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { eventually } from '../support/patience.ts';
import { expectClean, watch } from './seen.ts';
import { listen, type Response } from './servers.ts';
import { get, open } from './undici-rig.ts';

it('an interim response is not mistaken for the response head', async () => {
  const { transport } = await open('http', (_, response) => {
    if ('writeProcessing' in response) response.writeProcessing();
    response.end('done');
  });
  const statuses: number[] = [];
  await new Promise<void>((resolve, reject) =>
    transport.send(get).subscribe({
      next: (event) => event.kind === 'head' && statuses.push(event.status),
      error: reject,
      complete: resolve,
    }),
  );
  expect(statuses).toEqual([200]);
});

it('T18: a quiet body has no time limit, also with a dispatcher that has one', async () => {
  const { Agent } = await import('undici');
  const dispatcher = new Agent({ bodyTimeout: 1 });
  onTestFinished(() => dispatcher.destroy());
  const limits: unknown[] = [];
  const dispatch = dispatcher.dispatch.bind(dispatcher);
  // Checks the option, because the timers of undici are too coarse to wait for.
  dispatcher.dispatch = (options, handler) => {
    limits.push(options.bodyTimeout);
    return dispatch(options, handler);
  };
  const { transport } = await open('http', (_, response) => response.end('a'), { dispatcher });
  for (const use of ['watch', 'list', 'call'] as const) {
    await watch(transport.send({ ...get, use })).ended;
  }
  expect(limits).toEqual([0, 0, 0]);
});

it('a compressed body that was not requested is an error', async () => {
  const { transport } = await open('http', (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    response.end(gzipSync('{}'));
  });
  const seen = watch(transport.send(get));
  await seen.ended;
  expectClean(seen.error, 'Unexpected', []);
  expect(seen.bytes).toBe(0);
});

it('an invalid header is an error that does not show it', async () => {
  const { transport } = await open('http', () => {});
  const seen = watch(transport.send({ ...get, headers: { authorization: 'Bearer hun\nter2' } }));
  await seen.ended;
  expectClean(seen.error, 'Network', ['ter2']);
});

it('requests beyond maxConnections are queued, and a cancelled one is never sent', async () => {
  const urls: (string | undefined)[] = [];
  const responses: Response[] = [];
  const { transport } = await open(
    'http',
    (request, response) => {
      urls.push(request.url);
      responses.push(response);
    },
    { maxConnections: 1 },
  );
  watch(transport.send({ ...get, path: '/a' }));
  const forgotten = watch(transport.send({ ...get, path: '/b' }));
  const last = watch(transport.send({ ...get, path: '/c' }));
  await eventually(() => urls.length === 1, 'the first');
  forgotten.subscription.unsubscribe();
  responses[0]?.end();
  await eventually(() => urls.length === 2, 'the next');
  responses[1]?.end('c');
  await last.ended;
  expect(urls).toEqual(['/a', '/c']);
  expect(last).toMatchObject({ text: 'c', completed: true });
});

it('an error of the demand is an error of the request', async () => {
  const { transport } = await open('http', (_, response) => response.end('x'));
  const capacity = new Subject<void>();
  const seen = watch(transport.send({ ...get, demand: () => capacity }));
  await eventually(() => seen.status === 200, 'the head');
  capacity.error(new Error('no more'));
  await seen.ended;
  expect(expectClean(seen.error, 'Network', []).message).toContain('no more');
});

it('reading continues if the demand emits synchronously or only completes', async () => {
  const { transport } = await open('http', (_, response) => response.end('x'.repeat(1 << 20)));
  const demands = [new Subject<void>(), new Subject<void>()];
  demands[0]?.complete();
  const seen = watch(transport.send({ ...get, demand: () => demands[0] ?? null }));
  await seen.ended;
  expect(seen).toMatchObject({ bytes: 1 << 20, completed: true });
});

it('the certificate of the server is verified', async () => {
  const { transport } = await open('https', (_, response) => response.end(), { tls: {} });
  const seen = watch(transport.send(get));
  await seen.ended;
  expect(expectClean(seen.error, 'Network', []).message).toMatch(/CERT|SIGNATURE|ISSUER/);
});

it('the path of the base URL precedes each path', async () => {
  const server = await listen('http', (request, response) => response.end(request.url));
  onTestFinished(() => server.close());
  const baseUrl = `${server.url}/k8s/clusters/c-1/`;
  const transport = createUndiciTransport({ baseUrl });
  const client = createClient({ baseUrl, transport });
  onTestFinished(() => client.close());
  expect(await client.request({ path: '/version' })).toBe('/k8s/clusters/c-1/version');
});

it('an invalid base URL and an invalid proxy are refused', () => {
  const make = (options: UndiciTransportOptions) => () => createUndiciTransport(options);
  expect(make({ baseUrl: 'localhost:8001' })).toThrow(TypeError);
  expect(make({ baseUrl: '' })).toThrow(TypeError);
  const proxy = 'ftp://me:hunter2@host';
  const bad = make({ baseUrl: 'http://a', proxy });
  expect(bad).toThrow(/its scheme is ftp/);
  expect(bad).not.toThrow(/hunter2/);
});

it('a given dispatcher is used and not closed', async () => {
  const { Agent } = await import('undici');
  const dispatcher = new Agent();
  onTestFinished(() => dispatcher.destroy());
  const { server, transport } = await open('http', (_, response) => response.end('ok'), {
    dispatcher,
  });
  const first = watch(transport.send(get));
  await first.ended;
  await transport.close();
  expect(first.text).toBe('ok');
  const other = createUndiciTransport({ baseUrl: server.url, dispatcher });
  const second = watch(other.send(get));
  await second.ended;
  expect(second.text).toBe('ok');
});

it('after retire() the open request continues, and a new request is refused', async () => {
  let end = () => {};
  const { transport } = await open('http', (_, response) => {
    response.write('a');
    end = () => response.end('b');
  });
  const seen = watch(transport.send(get));
  await eventually(() => seen.bytes === 1, 'a chunk');
  const retired = transport.retire();
  expect(watch(transport.send(get)).error).toBeInstanceOf(ApiError);
  end();
  await seen.ended;
  expect(seen).toMatchObject({ text: 'ab', completed: true });
  await retired;
});

const baseUrl = 'http://api.test';

/** The part of undici's options and handlers that the dispatcher needs. */
interface Dispatched {
  readonly path: string;
  readonly headersTimeout: number;
}
interface UndiciHandler {
  onRequestStart(controller: object): void;
  onResponseStart(controller: object, status: number, headers: object): void;
  onResponseData(controller: object, bytes: Buffer): void;
  onResponseEnd(controller: object): void;
  onResponseError(controller: object, error: Error): void;
}

/** A server that begins its answer to a list after `lateMs`, and answers no watch; with undici's limit for a head. */
function lateServer(time: VirtualTime, lateMs: number) {
  const limits: number[] = [];
  const list = '{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}';
  const dispatch: NonNullable<UndiciTransportOptions['dispatcher']>['dispatch'] = (
    given,
    taken,
  ) => {
    const [options, handler] = [given as Dispatched, taken as UndiciHandler];
    const isWatch = new URL(options.path, baseUrl).searchParams.has('watch');
    // A ping of an open watch is no list.
    const isPing = options.path.includes('fieldSelector');
    if (!isWatch && !isPing) limits.push(options.headersTimeout);
    const controller = { abort: () => ends.unsubscribe(), pause: () => {}, resume: () => {} };
    const isLate = !isPing && options.headersTimeout !== 0 && options.headersTimeout < lateMs;
    const waitMs = isLate ? options.headersTimeout : lateMs;
    const ends = timer(isWatch || isPing ? 10 : waitMs, time).subscribe(() => {
      if (isWatch) return handler.onResponseStart(controller, 200, {});
      if (isLate) {
        const error = Object.assign(new Error('late'), { code: 'UND_ERR_HEADERS_TIMEOUT' });
        return handler.onResponseError(controller, error);
      }
      handler.onResponseStart(controller, 200, { 'content-type': 'application/json' });
      handler.onResponseData(controller, Buffer.from(list));
      handler.onResponseEnd(controller);
    });
    handler.onRequestStart(controller);
    return true;
  };
  return { limits, dispatcher: { dispatch } };
}

it.each([
  [undefined, 35_000, [30_000, 60_000]],
  [undefined, 100_000, [30_000, 60_000, 120_000]],
  [20_000, 35_000, [20_000, 40_000]],
  [Number.POSITIVE_INFINITY, 35_000, [0, 0]],
])(
  'R15, R35: with headersTimeoutMs %s a list whose answer begins after %d ms comes',
  async (headersTimeoutMs, lateMs, expected) => {
    const time = new VirtualTime();
    const { limits, dispatcher } = lateServer(time, lateMs);
    const transport = createUndiciTransport({ baseUrl, dispatcher, headersTimeoutMs });
    const client = createClient({ baseUrl, transport, scheduler: time });
    const source = createListWatch(client, pods, { scheduler: time });
    const informer = createSharedInformer(source, {
      scheduler: time,
      initialList: 'pages',
      random: () => 0,
    });
    informer.start();
    for (let at = 0; at < 400 && !informer.status.synced; at++) await time.advance(1_000);
    expect(limits).toEqual(expected);
    expect(informer.status.synced).toBe(true);
    await informer.stop();
    await client.close();
  },
);

/** A watch over undici whose dispatcher is the test, and what its subscriber has seen. */
function openWatch(isHttp2: boolean) {
  const rig = {
    pauses: 0,
    aborts: 0,
    isClosed: false,
    isListed: false,
    demandError: undefined as unknown,
    onChunk: () => {},
  };
  const opens = new Subject<void>();
  const seen: string[] = [];
  const controller = {
    abort: () => rig.aborts++,
    pause: () => rig.pauses++,
    resume: () => rig.pauses--,
  };
  let handler: UndiciHandler | undefined;
  const dispatch = (_: object, taken: object) => {
    handler = taken as UndiciHandler;
    handler.onRequestStart(controller);
    if (isHttp2) channel('http2.client.stream.created').publish({ stream: {} });
    handler.onResponseStart(controller, 200, {});
    return true;
  };
  const transport = createUndiciTransport({ baseUrl, dispatcher: { dispatch } });
  const demand = () => {
    if (rig.demandError !== undefined) throw rig.demandError;
    return rig.isClosed ? opens : null;
  };
  const mayYield = () => rig.isListed;
  const request = { method: 'GET', path: '/', use: 'watch', demand, mayYield } as const;
  const watch = transport.send(request).subscribe({
    next: (event) => {
      if (event.kind !== 'chunk') return;
      rig.onChunk();
      seen.push(Buffer.from(event.bytes).toString());
    },
    error: (error) => seen.push(`error ${(error as Error).message}`),
    complete: () => seen.push('end'),
  });
  // An open response listens for the end of its HTTP/2 stream.
  onTestFinished(() => watch.unsubscribe());
  return {
    rig,
    seen,
    watch,
    openDemand() {
      rig.isClosed = false;
      opens.next();
    },
    data(...texts: string[]) {
      for (const text of texts) handler?.onResponseData(controller, Buffer.from(text));
    },
    end: () => handler?.onResponseEnd(controller),
    fail: () => handler?.onResponseError(controller, new Error('cut')),
  };
}

/** Ends after what has been put off until the event loop turns. */
const turn = () => new Promise((resolve) => setImmediate(resolve));
const large = 'x'.repeat(65_535);

it('T1: what a read of an HTTP/1.1 socket has brought of a streaming list is one chunk, and what arrives after a pause waits with the end', async () => {
  const { rig, seen, openDemand, data, end } = openWatch(false);
  const read = async (...texts: string[]) => {
    data(...texts);
    await Promise.resolve();
  };
  await read('a', 'b');
  await read('c');
  await read(large, 'd', 'e');
  rig.isClosed = true;
  await read('f');
  // The parser stops behind the chunk that comes after the pause.
  await read('g');
  expect(seen).toEqual(['ab', 'c', `${large}d`, 'e', 'f']);
  expect(rig.pauses).toBe(1);
  openDemand();
  expect(seen.slice(5)).toEqual(['g']);
  expect(rig.pauses).toBe(0);
  data('h', 'i');
  rig.isClosed = true;
  end();
  expect(seen.slice(6)).toEqual(['hi']);
  openDemand();
  expect(seen.slice(7)).toEqual(['end']);
  // The connection may have another request by now.
  expect(rig.pauses).toBe(1);
});

it.each([
  ['HTTP/1.1', false],
  ['HTTP/2', true],
])(
  'T1: over %s events behind a streaming list are passed on as they arrive',
  async (_, isHttp2) => {
    const { rig, seen, openDemand, data } = openWatch(isHttp2);
    data('a', 'b');
    rig.isListed = true;
    data('c');
    await turn();
    expect(seen.splice(0).join('')).toBe('abc');
    data('d', 'e');
    expect(seen.splice(0)).toEqual(['d', 'e']);
    rig.isClosed = true;
    data('f', 'g');
    await turn();
    expect(seen.splice(0)).toEqual(['f']);
    openDemand();
    expect(seen).toEqual(['g']);
  },
);

it('T1, X7: over HTTP/2 a lone chunk does not wait, and those that follow in one turn of the event loop are one', async () => {
  const { rig, seen, openDemand, data, end } = openWatch(true);
  data('a', 'b', 'c');
  expect(seen).toEqual(['a']);
  await turn();
  expect(seen.splice(0)).toEqual(['a', 'bc']);
  data('d');
  expect(seen).toEqual([]);
  await turn();
  expect(seen.splice(0)).toEqual(['d']);
  await turn();
  data('e', large, 'f', 'g');
  expect(seen.splice(0)).toEqual(['e', `${large}f`]);
  rig.isClosed = true;
  await turn();
  data('h');
  await turn();
  data('i');
  end();
  expect(seen.splice(0)).toEqual(['g']);
  expect(rig.pauses).toBe(1);
  openDemand();
  expect(seen).toEqual(['hi', 'end']);
});

it.each([
  ['HTTP/1.1', false],
  ['HTTP/2', true],
])(
  'T1: over %s what has arrived is passed on before an error, and not after an unsubscription',
  async (_, isHttp2) => {
    const cut = openWatch(isHttp2);
    cut.data('a', 'b');
    cut.fail();
    expect(cut.seen.join(' ')).toMatch(/^a ?b error .*cut/);
    const left = openWatch(isHttp2);
    left.data('a', 'b');
    const before = left.seen.length;
    left.watch.unsubscribe();
    await turn();
    expect(left.seen).toHaveLength(before);
    expect(left.rig.aborts).toBe(1);
    const thrown = openWatch(isHttp2);
    thrown.rig.demandError = new Error('no demand');
    thrown.data('a', 'b');
    await turn();
    expect(thrown.seen.join(' ')).toMatch(/^ab? error .*no demand/);
    expect(thrown.rig.aborts).toBe(1);
  },
);

it('T1: a chunk is as it was while another response is read within its call', async () => {
  const [outer, inner] = [openWatch(false), openWatch(false)];
  inner.data('a');
  inner.rig.isClosed = true;
  await Promise.resolve();
  inner.data('b', 'c');
  outer.rig.onChunk = () => inner.openDemand();
  outer.data('d', 'e');
  await Promise.resolve();
  expect([outer.seen, inner.seen]).toEqual([['de'], ['a', 'bc']]);
});
