/**
 * Counts what runs for one watch event, from the bytes of the fake server to the changed row of a view: files, functions and
 * calls of `lib`, as V8 counts them. `node --conditions=rx-informer-source spec/walk/one-event.ts 50` has a window of 50 rows.
 */
import { once } from 'node:events';
import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createClient, createInformerFactory, createLiveQueries, liveQuery } from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { filter, firstValueFrom, timer } from 'rxjs';
import { REST_MS } from '../../lib/transport/guards/buffering-state.ts';

/** What ran. */
export interface Walk {
  readonly files: number;
  readonly functions: number;
  readonly calls: number;
  /** The calls of the folder `query`. */
  readonly queryCalls: number;
}

const OBJECTS = 2_000;
/** The walk has the fewest of each that any event had. It ends when so many in a row had no fewer: on a busy machine many have more. */
const EVENTS = 120;
const lib = pathToFileURL(fileURLToPath(new URL('../../lib/', import.meta.url))).href;
/** The fake server is no part of the walk. */
const isCounted = (url: string) =>
  url.startsWith(lib) && !/^(?:testing|object-log)\//.test(url.slice(lib.length));

async function walkOf(limit: number): Promise<Walk> {
  const server = createFakeApiServer();
  for (let at = 0; at < OBJECTS; at++) {
    const status = { phase: at % 2 === 0 ? 'Pending' : 'Running' };
    server.objects.create(pods, { metadata: { namespace: 'shop', name: `web-${at}` }, status });
  }
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  const factory = createInformerFactory(client);
  const view = createLiveQueries(factory).view(
    liveQuery({
      from: pods,
      where: { path: 'status.phase', eq: 'Running' },
      orderBy: [{ path: 'metadata.name' }],
      limit,
      select: { name: 'metadata.name', phase: 'status.phase', step: 'metadata.labels.step' },
    }),
  );
  const leave = view.subscribe(() => undefined);
  factory.start();
  const change = async (step: string) => {
    const pod = server.objects.get(pods, { namespace: 'shop', name: 'web-1' });
    server.objects.update(pods, {
      ...pod,
      metadata: { ...pod?.metadata, labels: { step } },
    } as Pod);
    await firstValueFrom(view.items$.pipe(filter(([row]) => row?.step === step)));
  };
  await firstValueFrom(view.items$.pipe(filter(({ length }) => length === limit)));
  // After a list of seconds the informer looks at each event for whether it still catches up.
  await firstValueFrom(view.status$.pipe(filter(({ live }) => live === true)));
  // Lazily loaded modules and first calls are no part of the walk.
  for (const step of ['first', 'second', 'third']) {
    await change(step);
    // Until the guards have seen the watch rest, they look at each chunk for whether a proxy holds events back.
    await firstValueFrom(timer(2 * REST_MS));
  }
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const walks: Walk[] = [];
  let fewestCalls = Number.POSITIVE_INFINITY;
  for (let vain = 0; vain < EVENTS; vain++) {
    await session.post('Profiler.takePreciseCoverage');
    await change(`counted ${walks.length}`);
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const walk = counted(result);
    walks.push(walk);
    if (walk.calls < fewestCalls) [vain, fewestCalls] = [0, walk.calls];
  }
  leave();
  await factory.stop();
  // A timer, or an event that arrives in two turns of the event loop, adds calls to some of them.
  const fewest = (name: keyof Walk) => Math.min(...walks.map((each) => each[name]));
  return {
    files: fewest('files'),
    functions: fewest('functions'),
    calls: fewest('calls'),
    queryCalls: fewest('queryCalls'),
  };
}

function counted(result: readonly Profiler.ScriptCoverage[]): Walk {
  const walk = { files: 0, functions: 0, calls: 0, queryCalls: 0 };
  for (const { url, functions } of result) {
    const ran = isCounted(url)
      ? functions.filter(({ ranges: [range] }) => (range?.count ?? 0) > 0)
      : [];
    const calls = ran.reduce((sum, { ranges: [range] }) => sum + (range?.count ?? 0), 0);
    if (calls === 0) continue;
    walk.files++;
    walk.functions += ran.length;
    walk.calls += calls;
    if (url.startsWith(`${lib}query/`)) walk.queryCalls += calls;
  }
  return walk;
}

const walk = await walkOf(Number(process.argv[2] ?? 50));
process.stdout.write(`${JSON.stringify(walk)}\n`) || (await once(process.stdout, 'drain'));
process.exit();
