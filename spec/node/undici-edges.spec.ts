/** Edge cases of the transport over undici: errors, queues, dispatchers of the caller, and lists whose answer begins late, in virtual time. */
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
