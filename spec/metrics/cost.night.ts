/** What metrics cost of the processor time of an event, with and without them in turns. */
import { createClient, createInformerFactory, type MetricsProvider, metered } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { expect, test } from 'vitest';
import { eventually } from '../support/patience.ts';

const [OBJECTS, EVENTS, WARM_UP, ROUNDS] = [500, 250, 20, 300];

function pod(at: number, version: number) {
  const env = Array.from({ length: 10 }, (_, of) => ({ name: `E${of}`, value: 'v'.repeat(20) }));
  const containers = ['web', 'proxy', 'log'].map((name) => ({ name, image: 'web:1.2.3', env }));
  const metadata = { namespace: 'shop', name: `web-${at}`, uid: `u${at}` };
  return {
    ...{ apiVersion: 'v1', kind: 'Pod', spec: { nodeName: 'n1', containers } },
    metadata: { ...metadata, resourceVersion: String(version), labels: { round: `${version}` } },
  };
}

const text = JSON.stringify({
  ...{ kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '1000' } },
  items: Array.from({ length: OBJECTS }, (_, at) => pod(at, at + 1)),
});
const encoder = new TextEncoder();
const headers = { 'content-type': 'application/json' };

/** Finds the series by its labels, as the SDK of OpenTelemetry does. */
function provider(): MetricsProvider {
  const create = () => {
    const series = new Map<string, number>();
    const add = (value: number, labels: object = {}) => {
      const key = JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
      series.set(key, (series.get(key) ?? 0) + value);
    };
    return { add, record: add, addCallback() {}, removeCallback() {} };
  };
  return {
    createCounter: create,
    createUpDownCounter: create,
    createHistogram: create,
    createObservableGauge: create,
  };
}

/** A program whose events come one by one, each in a chunk of its own, which is the dearest case. */
async function program(isMeasured: boolean) {
  const metrics = isMeasured ? metered(provider()) : undefined;
  let version = 1_000;
  let send = (_line: Uint8Array) => {};
  const body = () =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        send = (line) => controller.enqueue(line);
      },
    });
  const fetch = async (input: unknown) =>
    new Response(String(input).includes('watch=') ? body() : text, { headers });
  const client = createClient({ baseUrl: 'http://fake', fetch, metrics });
  const factory = createInformerFactory(client, { initialList: 'pages', metrics });
  const informer = factory.informer(pods);
  let arrived = () => {};
  informer.changes$.subscribe(() => {
    if (informer.indexer.resourceVersion === String(version)) arrived();
  });
  factory.start();
  await eventually(() => expect(informer.status.live).toBe(true));
  /** The processor time of these events in microseconds. */
  const took = async (): Promise<number> => {
    const lines = Array.from({ length: EVENTS }, () => {
      const object = pod(version % OBJECTS, ++version);
      return encoder.encode(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
    });
    const done = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const began = process.cpuUsage();
    for (const line of lines) {
      send(line);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await done;
    const { user, system } = process.cpuUsage(began);
    return (user + system) / EVENTS;
  };
  const end = async () => {
    await factory.stop();
    await client.close();
  };
  return { took, end };
}

/** What is exceeded in nine of ten turns, because other processes and collections of garbage only make a turn slower. */
function lowOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 10)] ?? Number.NaN;
}

/** How the programs follow each other, when they are made and when they run: the first ones cost more than the last ones. */
const ORDER = [false, true, true, false, true, false, false, true];

/** All programs live at the same time, and their events come in turns: so all have the same noise. */
test('I128: metrics cost at most 2 % of the processor time of an event that comes alone', async () => {
  const programs: Awaited<ReturnType<typeof program>>[] = [];
  for (const isMeasured of ORDER) programs.push(await program(isMeasured));
  const times = programs.map((): number[] => []);
  for (let round = -WARM_UP; round < ROUNDS; round++)
    for (const [at, { took }] of programs.entries()) {
      const us = await took();
      if (round >= 0) times[at]?.push(us);
    }
  for (const { end } of programs) await end();
  const sums = { plain: 0, measured: 0 };
  for (const [at, of] of times.entries())
    sums[ORDER[at] === true ? 'measured' : 'plain'] += (lowOf(of) * 2) / ORDER.length;
  const ratio = sums.measured / sums.plain;
  console.log(
    `metrics: ${ratio.toFixed(3)} times the ${sums.plain.toFixed(1)} µs of an event, in ${ROUNDS} rounds`,
  );
  // Rounded, because two measurements differ by half a percent.
  expect(Number(ratio.toFixed(2))).toBeLessThanOrEqual(1.02);
});
