/** Many queries at once, as a server for many users has them, and another page or text of one query. */
import {
  createClient,
  createInformerFactory,
  createLiveQueries,
  type LiveQuery,
  liveQuery,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { OURS, type Scenario } from './outcome.ts';
import { timing } from './turns.ts';

const PODS = 35_000;
const QUERIES = 100;
const PHASES = ['Running', 'Pending', 'Failed', 'Succeeded'] as const;

/** The CPU time of this thread in milliseconds. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function heapMb(): number {
  for (let run = 0; run < 4; run++) globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function startedFactory() {
  const server = createFakeApiServer();
  for (let at = 0; at < PODS; at++) {
    const mixed = Math.imul(at, 2_654_435_761) >>> 0;
    server.objects.create(pods, {
      metadata: {
        namespace: `ns-${at % 40}`,
        name: `pod-${String(mixed % 100_000).padStart(5, '0')}-${at}`,
        labels: { app: `app-${mixed % 50}` },
        creationTimestamp: new Date(1.7e12 + (mixed % 1e8) * 10).toISOString(),
      },
      spec: { nodeName: `node-${mixed % 500}`, containers: [{ name: 'main', image: 'web:1' }] },
      status: { phase: PHASES[mixed % 10 < 7 ? 0 : mixed % 4] ?? 'Running' },
    });
  }
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  const factory = createInformerFactory(client);
  factory.informer(pods);
  factory.start();
  await factory.whenSynced();
  return factory;
}

const ORDERS = [
  { path: 'metadata.name' },
  { path: 'metadata.creationTimestamp', direction: 'desc', as: 'time' },
  [{ path: 'spec.nodeName' }, { path: 'metadata.name' }],
  { path: 'status.phase' },
];

function conditionOf(at: number): object | undefined {
  return [
    undefined,
    { path: 'status.phase', eq: PHASES[at % 4] },
    { path: 'metadata.labels.app', in: [`app-${at % 50}`, `app-${(at + 7) % 50}`] },
    { path: 'metadata.name', contains: String(at % 10) },
    {
      and: [
        { path: 'status.phase', ne: 'Failed' },
        { path: 'spec.nodeName', prefix: `node-${(at % 9) + 1}` },
      ],
    },
  ][at % 5];
}

const select = { name: 'metadata.name', phase: 'status.phase', node: 'spec.nodeName' };

/** A query of its own for each number: one of ten has no limit. */
function queryOf(at: number): LiveQuery {
  const where = conditionOf(at);
  return liveQuery({
    from: pods,
    ...(where !== undefined && { where }),
    select: { ...select, [`column${at}`]: 'metadata.namespace' },
    orderBy: ORDERS[at % ORDERS.length],
    ...(at % 10 !== 9 && { limit: 20 + (at % 5) * 40, offset: (at % 4) * 50 }),
  } as never) as LiveQuery;
}

export const manyQueries: Scenario = async ({ batches }) => {
  const factory = await startedFactory();
  const all: number[] = [];
  const firsts: number[] = [];
  const slices: number[] = [];
  const heaps: number[] = [];
  const rounds = Math.max(5, Math.round(batches / 8));
  for (let round = -1; round < rounds; round++) {
    const queries = createLiveQueries(factory, { lingerMs: 0 });
    const views = Array.from({ length: QUERIES }, (_, at) => queries.view(queryOf(at)));
    const beforeMb = heapMb();
    const start = cpuMs();
    let before = start;
    let slice = 0;
    let first: number | undefined;
    const leaves = views.map((view) => view.subscribe(() => undefined));
    for (;;) {
      const now = cpuMs();
      slice = Math.max(slice, now - before);
      before = now;
      const answered = views.filter((view) => view.getSnapshot().synced).length;
      if (answered > 0) first ??= now - start;
      if (answered === QUERIES) break;
      await turn();
    }
    const took = cpuMs() - start;
    const mb = (heapMb() - beforeMb) / QUERIES;
    for (const leave of leaves) leave();
    if (round < 0) continue;
    all.push(took);
    firsts.push(first ?? Number.NaN);
    slices.push(slice);
    heaps.push(mb);
  }
  const median = (of: readonly number[]) => timing('', of).median;
  return [
    {
      title: `${QUERIES} queries over ${PODS.toLocaleString('en')} pods asked at once, CPU`,
      timings: [timing(OURS, all)],
      budgets: [
        { title: 'first answer, CPU', limit: 300, figure: median(firsts), unit: 'ms' },
        { title: 'CPU of the longest slice', limit: 100, figure: median(slices), unit: 'ms' },
        { title: 'heap of each', limit: 2, figure: median(heaps), unit: 'MB' },
      ],
    },
    ...(await anotherPage(factory, rounds)),
  ];
};

async function anotherPage(
  factory: Awaited<ReturnType<typeof startedFactory>>,
  rounds: number,
): ReturnType<Scenario> {
  const queries = createLiveQueries(factory);
  const ask = async (spec: object) => {
    const query = liveQuery({ from: pods, select, orderBy: ORDERS[0], ...spec } as never);
    const view = queries.view(query);
    const start = performance.now();
    const leave = view.subscribe(() => undefined);
    while (!view.getSnapshot().synced) await turn();
    const took = performance.now() - start;
    leave();
    return took;
  };
  const pages: number[] = [];
  const texts: number[] = [];
  for (let at = 0; at < 4 * rounds; at++) {
    pages.push(await ask({ offset: at * 200, limit: 200 }));
    const where = { path: 'metadata.name', contains: String(100 + at) };
    texts.push(await ask({ where, limit: 200 }));
  }
  const outcome = (title: string, times: readonly number[], limit: number) => {
    const timings = [timing(OURS, times)];
    const figure = timings[0]?.median ?? Number.NaN;
    return { title, timings, budgets: [{ title: 'of one', limit, figure, unit: 'ms' as const }] };
  };
  const over = `${PODS.toLocaleString('en')} pods`;
  return [
    outcome(`another page of 200 of ${over}`, pages, 5),
    outcome(`another text among the names of ${over}`, texts, 10),
  ];
}
