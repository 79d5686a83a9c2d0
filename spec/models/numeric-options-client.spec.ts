/** Every numeric option of clients, transports and factories, over its complete range: it is used as documented, or refused. */
import {
  createClient,
  createDiscovery,
  createDynamicInformerFactory,
  createInformerFactory,
  createListWatch,
  createResourceClient,
  createRestMapper,
  forResource,
  retryOnConflict,
  type Transport,
  type TransportEvent,
} from 'rx-informer';
import { clientFromKubeConfig, createUndiciTransport } from 'rx-informer/node';
import { nodes, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { of, type SchedulerLike, type Subscription } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { kubeconfig } from '../node/kubeconfigs.ts';
import { listen, type Protocol, type Response } from '../node/servers.ts';
import { testOnlyCa } from '../node/test-only-certificates.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import {
  above,
  atLeast,
  isNumber,
  judgeRange,
  type NumericOption,
  neverOrASecond,
  optionsOf,
  sentWhole,
  wholeOrInfinite,
} from './numeric-range.ts';

/** The longest wait of setTimeout, which fires immediately beyond it. */
const LONGEST_MS = 2 ** 31 - 1;
const { POSITIVE_INFINITY: infinite, NEGATIVE_INFINITY: minus } = Number;

const server = createFakeApiServer();
server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
const fake = { baseUrl: 'http://fake', fetch: server.fetch };
const client = createClient(fake);
const podClient = createResourceClient(client, pods).namespace('shop');
const baseUrl = 'http://127.0.0.1:1';
const subscribed = (stream: { subscribe(observer: object): Subscription }) =>
  new Promise((resolve, reject) => {
    const run = stream.subscribe({ next: resolve, complete: () => resolve(0), error: reject });
    setImmediate(() => run.unsubscribe());
    resolve(0);
  });

const logged = (options: object) => subscribed(podClient.log('web-0', options));
const onFake = (options: object) => createClient({ ...fake, ...options });
const overUndici = (options: object) => createUndiciTransport({ baseUrl, ...options });
const fromConfig = (options: object) =>
  clientFromKubeConfig({ text: kubeconfig({ server: baseUrl }), ...options });
const factories = [createInformerFactory, createDynamicInformerFactory].map(
  (create) => (options: object) => create(client, options),
);
const deletions = [
  (options: object) => podClient.delete('web-0', { ...options, dryRun: true }),
  (options: object) => podClient.deleteCollection({ ...options, dryRun: true }),
  (options: object) => podClient.evict('web-0', { ...options, dryRun: true }),
];

const ROWS: readonly NumericOption[] = [
  ...[onFake, fromConfig].flatMap((use) => [
    ...optionsOf(['qps'], isNumber, use),
    ...optionsOf(['burst', 'maxBodyBytes'], atLeast(1), use),
    ...optionsOf(['livenessMs', 'headersTimeoutMs'], above(0), use),
  ]),
  ...optionsOf(['execTimeoutMs'], above(0), fromConfig),
  ...optionsOf(['maxConnections'], wholeOrInfinite(1), fromConfig),
  ...optionsOf(['maxConnections'], wholeOrInfinite(1), overUndici),
  ...optionsOf(['headersTimeoutMs'], above(0), overUndici),
  ...[
    (options: object) => createListWatch(client, pods, options),
    (options: object) => createInformerFactory(client, options),
  ].flatMap((use) => optionsOf(['maxFrameBytes', 'maxPageBytes'], atLeast(1), use)),
  ...factories.flatMap((use) => [
    ...optionsOf(['lingerMs'], atLeast(0), use),
    ...optionsOf(['resyncPeriodMs'], neverOrASecond, use),
  ]),
  ...optionsOf(['resyncPeriodMs'], neverOrASecond, (options: object) =>
    createInformerFactory(client, { resources: [forResource(nodes, options)] }),
  ),
  ...optionsOf(
    ['historyLimit', 'historyMaxBytes', 'pageSizeMax', 'requestsKept'],
    wholeOrInfinite(1),
    createFakeApiServer,
  ),
  ...optionsOf(['bookmarkIntervalMs'], above(0), createFakeApiServer),
  ...optionsOf(['latencyMs'], atLeast(0), createFakeApiServer),
  ...optionsOf(['minRefreshMs'], atLeast(0), (options: object) =>
    createRestMapper(createDiscovery(client), options),
  ),
  ...[
    (options: object) => retryOnConflict(() => 0, options),
    (options: object) => podClient.edit('web-0', () => {}, options),
  ].flatMap((use) => optionsOf(['attempts'], wholeOrInfinite(1), use)),
  ...optionsOf(['limit'], sentWhole(0), podClient.list),
  ...optionsOf(['timeoutSeconds'], sentWhole(0), (options: object) =>
    subscribed(podClient.watch(options)),
  ),
  ...deletions.flatMap((use) => optionsOf(['gracePeriodSeconds'], sentWhole(0), use)),
  ...optionsOf(['tailLines'], sentWhole(0), logged),
  ...optionsOf(['sinceSeconds', 'limitBytes'], sentWhole(1), logged),
  ...optionsOf(['maxLineLength'], wholeOrInfinite(1), logged),
];

describe('a numeric option', () => {
  it.each(ROWS.map((row) => [row.option, row] as const))(
    'M13: %s is used as documented, or refused by name, over its complete range',
    (_option, row) => judgeRange(row),
  );
});

/** Virtual time that records the requested waits. */
function watchedTime() {
  const time = new VirtualTime();
  const delays: number[] = [];
  const schedule = time.schedule.bind(time) as SchedulerLike['schedule'];
  time.schedule = ((work: never, delay = 0, state?: never) => {
    delays.push(delay);
    return schedule(work, delay, state);
  }) as SchedulerLike['schedule'];
  return { time, delays };
}

describe('a rate limit', () => {
  /** The times at which requests that are made at the same time are sent. */
  async function sentAt(options: { qps: number; burst: number }, requests = 4) {
    const { time, delays } = watchedTime();
    const head: TransportEvent = { kind: 'head', status: 200, header: () => null };
    const transport: Transport = { send: () => of(head), close: () => Promise.resolve() };
    const own = createClient({ baseUrl: '', transport, scheduler: time, ...options });
    const at: number[] = [];
    for (let nth = 0; nth < requests; nth++) {
      own
        .send({ method: 'GET', path: '/x', use: 'list' })
        .subscribe(({ kind }) => kind === 'head' && at.push(time.now()));
    }
    await time.advance(1e14);
    expect(Math.max(0, ...delays)).toBeLessThanOrEqual(LONGEST_MS);
    return at;
  }

  it('M13, T5: a limit of 0, less or Infinity does not limit', async () => {
    for (const qps of [0, -1, minus, infinite]) {
      expect(await sentAt({ qps, burst: 1 })).toEqual([0, 0, 0, 0]);
    }
    expect(await sentAt({ qps: 1, burst: infinite })).toEqual([0, 0, 0, 0]);
  });

  it('M13, T5, X5: a limit of one request in many days waits for many days', async () => {
    expect(await sentAt({ qps: 1e-10, burst: 1 }, 3)).toEqual([0, 1e13, 2e13]);
    expect(await sentAt({ qps: 2, burst: 1.5 }, 3)).toEqual([0, 250, 750]);
  });
});

describe('a body', () => {
  it('M13, T7: a body has no limit if the limit is Infinity', async () => {
    const fetch = () => Promise.resolve(new Response('x'.repeat(100)));
    const get = (maxBodyBytes: number) =>
      createClient({ baseUrl: '', fetch, maxBodyBytes }).request({ path: '/x' });
    expect(await get(infinite)).toHaveLength(100);
    expect(await get(100)).toHaveLength(100);
    await expect(get(99.5)).rejects.toMatchObject({ reason: 'TooLarge' });
  });
});

describe.each(['http', 'http2'] as const)('a pool over %s', (protocol: Protocol) => {
  it.each([infinite, 2 ** 31, 2 ** 53 + 2])(
    'M13: waits for a response head for any time with headersTimeoutMs %d',
    async (headersTimeoutMs) => {
      const warnings: string[] = [];
      const onWarning = ({ name }: Error) => warnings.push(name);
      process.on('warning', onWarning);
      const late: Response[] = [];
      const api = await listen(protocol, ({ url }, response) => {
        if (url === '/x') late.push(response);
        else response.end('soon');
      });
      const transport = createUndiciTransport({
        baseUrl: api.url,
        tls: { ca: testOnlyCa },
        headersTimeoutMs,
        maxConnections: infinite,
      });
      const own = createClient({ baseUrl: api.url, transport });
      const answer = own.request({ path: '/x' });
      for (let times = 0; times < 10; times++) await own.request({ path: '/y' });
      for (const response of late) response.end('late');
      expect(await answer).toBe('late');
      await own.close();
      await api.close();
      process.off('warning', onWarning);
      expect(warnings).toEqual([]);
    },
  );
});

describe('a factory', () => {
  it.each([2 ** 31, 1e12, infinite])('M13, X5: lingers for %d ms', async (lingerMs) => {
    const { time, delays } = watchedTime();
    const own = createInformerFactory(createClient({ ...fake, scheduler: time }), {
      scheduler: time,
      lingerMs,
    });
    own.start();
    own.acquire(pods).release();
    await time.advance(600_000);
    expect(own.informers).toEqual(['pods']);
    expect(Math.max(...delays)).toBeLessThanOrEqual(LONGEST_MS);
    await own.stop();
    expect(time.pending).toBe(0);
  });
});
