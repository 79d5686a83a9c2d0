/**
 * Tests a worker and its tabs as an application uses them, by public names only: `serveQueries` behind ports in virtual time, and
 * `connectWorker` in pages that share a fake document.
 */

import {
  createClient,
  createInformerFactory,
  type LiveQueries,
  liveFilter,
  liveMap,
  liveQuery,
  liveSort,
} from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import {
  askedQueries,
  type ConnectWorkerOptions,
  connectWorker,
  editInWorker,
  type Port,
  type ServedQueries,
  type ServeQueriesOptions,
  serveQueries,
  type WorkerCluster,
  type WorkerQueries,
  workerQuery,
} from 'rx-informer/worker';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import * as fc from '../support/fast-check.ts';
import { eventually } from '../support/patience.ts';

const DELAY_MS = 1;

/** The document of the pages. */
class Document extends EventTarget {
  visibilityState = 'visible';

  turn(visibilityState: 'visible' | 'hidden'): void {
    this.visibilityState = visibilityState;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

let time: VirtualTime;
let page: Document;

beforeEach(() => {
  time = new VirtualTime();
  page = new Document();
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('removeEventListener', () => undefined);
  vi.stubGlobal('requestAnimationFrame', (paint: () => void) => time.schedule(paint, 16));
});
afterEach(() => vi.unstubAllGlobals());

type Listener = (message: unknown) => void;

/** Two ports that deliver copies after a millisecond, until the second one is cut. */
function ports() {
  const listeners: [Listener?, Listener?] = [];
  const waiting: [unknown[], unknown[]] = [[], []];
  let isCut = false;
  const port = (own: 0 | 1): Port => ({
    post(message) {
      const copy = structuredClone(message);
      const other = own === 0 ? 1 : 0;
      time.schedule(() => {
        if (isCut) return;
        const listener = listeners[other];
        if (listener === undefined) waiting[other].push(copy);
        else listener(copy);
      }, DELAY_MS);
    },
    listen(listener) {
      listeners[own] = listener;
      for (const message of waiting[own].splice(0)) listener(message);
    },
    close() {
      listeners[own] = () => undefined;
    },
  });
  return { tab: port(0), worker: port(1), cut: () => (isCut = true) };
}

interface ApplicationOptions extends Partial<ServeQueriesOptions> {
  readonly names?: readonly string[];
  readonly allows?: () => boolean;
  readonly token?: string;
}

/** A server with Pods, a worker that can be started again, and its tabs. */
function application({ names = [], token, allows, ...options }: ApplicationOptions = {}) {
  const scheduler = time;
  const server = createFakeApiServer({ scheduler, ...(allows && { allows }) });
  const podOf = (name: string, phase = 'Running') => ({
    metadata: { namespace: 'shop', name, labels: { app: name } },
    status: { phase },
  });
  for (const name of names) server.objects.create(pods, podOf(name));
  const given: string[] = [];
  const start = () =>
    serveQueries({
      scheduler,
      fetch: async (input, init) => {
        const header = (init?.headers as Record<string, string> | undefined)?.['authorization'];
        if (header !== undefined) given.push(header);
        const status = JSON.stringify({ kind: 'Status', code: 401, reason: 'Unauthorized' });
        if (token !== undefined && header !== token)
          return new Response(status, { status: 401 }) as never;
        return await server.fetch(input, init);
      },
      createFactory: ({ fetch, demand }) =>
        createInformerFactory(createClient({ baseUrl: 'http://fake', fetch, scheduler }), {
          ...{ demand, scheduler, random: () => 0 },
        }),
      ...options,
    });
  let served: ServedQueries = start();
  let cuts: (() => void)[] = [];
  const open = (more: Partial<ConnectWorkerOptions> = {}) => {
    // Only while a tab connects, because a worker has no document.
    vi.stubGlobal('document', page);
    const cluster = connectWorker({
      identity: 'ann',
      scheduler,
      shared: () => {
        const { tab, worker, cut } = ports();
        cuts.push(cut);
        served.connect(worker);
        const port = {
          postMessage: tab.post,
          close: tab.close,
          onmessage: null as ((event: never) => void) | null,
        };
        tab.listen((data) => port.onmessage?.({ data } as never));
        return { port, onerror: null };
      },
      ...more,
    });
    vi.stubGlobal('document', undefined);
    return cluster;
  };
  return {
    server,
    open,
    given,
    put: (name: string, phase?: string) => server.objects.create(pods, podOf(name, phase)),
    setPhase: (name: string, phase: string) => {
      const pod = server.objects.get(pods, { namespace: 'shop', name });
      server.objects.update(pods, { ...pod, status: { phase } } as never);
    },
    /** By phase, then by name. */
    names: () =>
      server.objects
        .list(pods)
        .map(({ metadata, status }) => [`${status?.phase}`, `${metadata?.name}`] as const)
        .sort(([phase, name], [other, its]) => (phase + name < other + its ? -1 : 1))
        .map(([, name]) => name),
    remove: (name: string) => server.objects.delete(pods, { namespace: 'shop', name }),
    watches: () => server.requests.filter(({ query }) => 'watch' in (query as object)).length,
    served: () => served,
    counts: () => served.counts,
    restart: () => {
      for (const cut of cuts) cut();
      cuts = [];
      served = start();
    },
  };
}

const byName = liveQuery({
  from: pods,
  select: { name: 'metadata.name', phase: 'status.phase' },
  orderBy: { path: 'metadata.name' },
});

/** The names of the Pods, in the order of their phases. */
const moved = (_params: undefined, live: LiveQueries) => {
  const rankOf = ({ metadata, status }: Pod) => `${status?.phase}${metadata?.name}`;
  return live.stream(liveQuery({ from: pods })).pipe(
    liveSort<Pod>((one, other) => (rankOf(one) < rankOf(other) ? -1 : 1)),
    liveMap(({ metadata }) => ({ name: metadata?.name })),
  );
};

function follow(cluster: WorkerCluster, query: Parameters<WorkerCluster['view']>[0] = byName) {
  const view = cluster.view(query as typeof byName);
  const leave = view.subscribe(() => undefined);
  return {
    leave,
    get shown() {
      return view.getSnapshot();
    },
    get names() {
      return view.getSnapshot().rows.map(({ name }) => name);
    },
  };
}

const pass = (ms = 1_000) => time.advance(ms);

describe('the rows of a tab', () => {
  it('B1: are those of the server, live and synced', async () => {
    const app = application({ names: ['b', 'a'] });
    const tab = follow(app.open());
    expect([tab.shown.synced, tab.names]).toEqual([false, []]);
    await pass();
    expect(tab.names).toEqual(['a', 'b']);
    expect([tab.shown.synced, tab.shown.status.live, tab.shown.total]).toEqual([true, true, 2]);
  });

  it('B1: of three tabs with equal queries need one watch and one pipeline', async () => {
    const app = application({ names: ['a'] });
    const tabs = [app.open(), app.open(), app.open()].map((cluster) => follow(cluster));
    await pass();
    expect(tabs.map(({ names }) => names)).toEqual([['a'], ['a'], ['a']]);
    expect([app.counts(), app.watches()]).toEqual([{ tabs: 3, pipelines: 1 }, 1]);
  });

  it('B2: follow additions, updates and deletions, and keep the rows that have not changed', async () => {
    const app = application({ names: ['a', 'b', 'c'] });
    const tab = follow(app.open());
    await pass();
    const [a] = tab.shown.rows;
    app.setPhase('b', 'Failed');
    app.put('bb');
    app.remove('c');
    await pass();
    expect(tab.shown.rows).toEqual([
      { name: 'a', phase: 'Running' },
      { name: 'b', phase: 'Failed' },
      { name: 'bb', phase: 'Running' },
    ]);
    expect(tab.shown.rows[0]).toBe(a);
  });

  it('B1: move with their order, also if nothing that is selected has changed', async () => {
    const app = application({ names: ['a', 'b', 'c'] });
    const cluster = app.open();
    const query = { from: pods, select: { name: 'metadata.name' } } as const;
    const orderBy = [{ path: 'status.phase' }, { path: 'metadata.name' }] as const;
    const all = follow(cluster, liveQuery({ ...query, orderBy }) as typeof byName);
    const some = follow(cluster, liveQuery({ ...query, orderBy, limit: 10 }) as typeof byName);
    await pass();
    const [a, b, c] = all.shown.rows;
    app.setPhase('a', 'Terminating');
    await pass();
    expect([all.names, some.names]).toEqual([
      ['b', 'c', 'a'],
      ['b', 'c', 'a'],
    ]);
    for (const [at, row] of [b, c, a].entries()) expect(all.shown.rows[at]).toBe(row);
    app.put('d', 'Unknown');
    await pass();
    expect([all.names, some.names]).toEqual([
      ['b', 'c', 'a', 'd'],
      ['b', 'c', 'a', 'd'],
    ]);
  });

  it('B1: are those of the server after any series of changes of a column that is not selected', async () => {
    const write = fc.tuple(
      fc.constantFrom('put', 'set', 'set', 'set', 'remove'),
      fc.nat(5),
      fc.nat(3),
    );
    const step = fc.tuple(fc.array(write, { maxLength: 4 }), fc.constantFrom('visible', 'hidden'));
    const property = fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      page.turn('visible');
      const app = application({ names: ['0', '1', '2', '3'], queries: { moved } });
      const cluster = app.open({ lingerMs: 0 });
      const select = { name: 'metadata.name' } as const;
      const orderBy = [{ path: 'status.phase' }, { path: 'metadata.name' }] as const;
      const plain = { from: pods, select, orderBy } as const;
      const all = follow(cluster, liveQuery(plain) as typeof byName);
      const some = follow(cluster, liveQuery({ ...plain, offset: 1, limit: 2 }) as typeof byName);
      const stream = follow(cluster, { named: 'moved' } as never);
      await pass();
      for (const [writes, state] of steps) {
        for (const [what, name, phase] of writes) {
          const isThere = app.names().includes(`${name}`);
          if (what === 'put' && !isThere) app.put(`${name}`, `${phase}`);
          else if (what === 'set' && isThere) app.setPhase(`${name}`, `${phase}`);
          else if (what === 'remove' && isThere) app.remove(`${name}`);
        }
        page.turn(state);
        await pass();
        if (state === 'hidden') continue;
        const expected = app.names();
        expect([all.names, stream.names]).toEqual([expected, expected]);
        expect([some.names, some.shown.total]).toEqual([expected.slice(1, 3), expected.length]);
      }
      cluster.close();
    });
    await fc.assert(property, { numRuns: 40 });
  });

  it('I112: refuse a listener that is no function at once', () => {
    const view = application().open().view(byName);
    for (const each of [view, view.select('a')]) {
      const subscribe = () => each.subscribe({ next: () => undefined } as never);
      expect(subscribe).toThrow(/^subscribe: the listener is \{.*\}; it must be a function/);
    }
  });

  it('B2: are the complete objects with a limit and without select', async () => {
    const app = application({ names: ['a'] });
    const view = app.open().view(liveQuery({ from: pods, limit: 5 }));
    view.subscribe(() => undefined);
    await pass();
    const [pod] = view.getSnapshot().rows;
    expect([pod?.metadata.name, pod?.status?.phase, pod?.kind]).toEqual(['a', 'Running', 'Pod']);
  });

  it('B8: arrive in one set after a burst of changes', async () => {
    const app = application({ names: ['a'] });
    const cluster = app.open();
    const view = cluster.view(byName);
    let calls = 0;
    view.subscribe(() => calls++);
    await pass();
    calls = 0;
    for (let at = 0; at < 50; at++) app.setPhase('a', `phase-${at}`);
    await pass();
    expect(view.getSnapshot().rows).toEqual([{ name: 'a', phase: 'phase-49' }]);
    expect(calls).toBeLessThan(5);
  });

  it('B9: come to a hidden page when it is shown', async () => {
    const app = application({ names: ['a'] });
    const tab = follow(app.open());
    await pass();
    page.turn('hidden');
    await pass();
    app.put('b');
    await pass();
    expect(tab.names).toEqual(['a']);
    page.turn('visible');
    await pass();
    expect(tab.names).toEqual(['a', 'b']);
  });

  it('B9: end their watch while all pages are hidden, and resume it', async () => {
    const app = application({ names: ['a'] });
    const tab = follow(app.open());
    await pass();
    page.turn('hidden');
    await pass(300_000);
    expect(app.server.openWatches.length).toBe(0);
    app.put('b');
    page.turn('visible');
    await pass();
    expect([tab.names, app.server.openWatches.length]).toEqual([['a', 'b'], 1]);
  });

  it('B1: are dropped with their pipeline after the linger, when the last tab has left', async () => {
    const app = application({ names: ['a'], lingerMs: 5_000 });
    const tab = follow(app.open({ lingerMs: 0 }));
    await pass();
    tab.leave();
    await pass();
    expect(app.counts().pipelines).toBe(1);
    await pass(10_000);
    expect(app.counts()).toEqual({ tabs: 1, pipelines: 0 });
  });
});

describe('queries of a worker', () => {
  const queries = {
    in: (namespace: string) =>
      liveQuery({
        from: pods,
        namespace,
        select: {
          key: 'upper',
          project: ({ metadata }: { metadata: { name: string } }) => ({
            name: metadata.name.toUpperCase(),
          }),
        } as never,
      }),
    running: (_, live) =>
      live.stream(liveQuery({ from: pods })).pipe(
        liveFilter((pod) => pod.status?.phase === 'Running'),
        liveMap(({ metadata }) => ({ name: metadata.name })),
      ),
  } satisfies WorkerQueries;
  const named = (name: string, params?: unknown) => workerQuery(name as never, params as never);

  it('B3: with a function are asked by name and parameters', async () => {
    const app = application({ names: ['a'], queries });
    const [here, elsewhere] = ['shop', 'other'].map((ns) => follow(app.open(), named('in', ns)));
    await pass();
    expect([here?.names, elsewhere?.names, elsewhere?.shown.synced]).toEqual([['A'], [], true]);
  });

  it('B17: may be streams of live operators', async () => {
    const app = application({ names: ['a', 'b'], queries });
    const tab = follow(app.open(), named('running'));
    await pass();
    expect(tab.names).toEqual(['a', 'b']);
    app.setPhase('a', 'Failed');
    await pass();
    expect(tab.names).toEqual(['b']);
  });

  it('B3: that the worker does not have are an error of the view that names those it has', async () => {
    const app = application({ queries });
    const tab = follow(app.open(), named('missing'));
    await pass();
    expect(String(tab.shown.status.error)).toMatch(/no query "missing"; .* has in, running/);
    // As that of a view without a worker whose pipe has failed.
    expect(tab.shown.error).toBe(tab.shown.status.error);
    expect(tab.shown.synced).toBe(false);
  });

  it('B19: are listed with the tabs that ask them', async () => {
    const queries = {
      asked: () => askedQueries(app.served(), { scheduler: time }),
    } satisfies WorkerQueries;
    const app = application({ names: ['a'], queries });
    const view = app.open().view(workerQuery<typeof queries, 'asked'>('asked'));
    view.subscribe(() => undefined);
    follow(app.open());
    follow(app.open());
    await pass(3_000);
    const rows = view
      .getSnapshot()
      .rows.map(({ query, tabs }) => [
        query['named'] ?? query['orderBy'],
        tabs.map(({ tab }) => tab),
      ]);
    expect(rows).toEqual([
      ['asked', [1]],
      [[{ path: 'metadata.name' }], [2, 3]],
    ]);
    expect(() => askedQueries({} as never)).toThrow(/it must be what serveQueries/);
  });
});

describe('the session of a worker', () => {
  it('B6: sends the credentials of a tab, and asks again after a 401', async () => {
    const app = application({ names: ['a'], token: 'Bearer new' });
    const tokens = ['Bearer old', 'Bearer new'];
    const credentials = () => ({ authorization: tokens.shift() ?? 'Bearer none' });
    const tab = follow(app.open({ credentials }));
    await pass(5_000);
    expect(tab.names).toEqual(['a']);
    expect([...new Set(app.given)]).toEqual(['Bearer old', 'Bearer new']);
  });

  it('B5: ends with a sign-out: no tab shows rows, and no watch is open', async () => {
    const app = application({ names: ['a'] });
    const [cluster, other] = [app.open(), app.open()];
    const tabs = [follow(cluster), follow(other)];
    await pass();
    cluster.signedOut();
    await pass();
    expect(tabs.map(({ names }) => names)).toEqual([[], []]);
    expect([cluster.connection.phase, app.server.openWatches.length]).toEqual(['signed-out', 0]);
  });

  it('B5: of another identity drops the rows of the former, which is told so', async () => {
    const app = application({ names: ['a'] });
    const ann = app.open();
    const tab = follow(ann);
    await pass();
    const bob = follow(app.open({ identity: 'bob' }));
    await pass();
    expect([tab.names, ann.connection.phase, bob.names]).toEqual([[], 'signed-out', ['a']]);
  });

  it('B7: is asked again after the death of the worker, with stale rows meanwhile', async () => {
    const app = application({ names: ['a'] });
    const cluster = app.open();
    const tab = follow(cluster);
    await pass();
    const seen: boolean[] = [];
    cluster.view(byName).subscribe(() => seen.push(tab.shown.stale === true));
    app.restart();
    app.put('b');
    await pass(60_000);
    expect(seen).toContain(true);
    expect([tab.names, tab.shown.stale, cluster.connection.workers]).toEqual([
      ['a', 'b'],
      undefined,
      2,
    ]);
  });

  it('B7: ends for a tab that closes its connection, and its rows stay as stale ones', async () => {
    const app = application({ names: ['a'] });
    const cluster = app.open();
    const tab = follow(cluster);
    await pass();
    cluster.close();
    await pass();
    expect([tab.names, tab.shown.stale, cluster.connection.phase]).toEqual([['a'], true, 'left']);
    expect(app.counts().tabs).toBe(0);
  });

  it('B10: runs in the page if no worker can be started', async () => {
    const app = application({ names: ['a'] });
    const served = serveQueries({
      createFactory: ({ fetch }) =>
        createInformerFactory(createClient({ baseUrl: 'http://fake', fetch })),
      fetch: app.server.fetch as never,
    });
    vi.unstubAllGlobals();
    const cluster = connectWorker({
      identity: 'ann',
      dedicated: () => {
        throw new Error('no workers here');
      },
      page: async () => ({ served }),
    });
    const tab = follow(cluster);
    await eventually(async () => {
      await pass(0);
      expect(tab.names).toEqual(['a']);
    });
    expect(cluster.connection.host).toBe('page');
    cluster.close();
  });
});

describe('an edit through a worker', () => {
  const failed = (draft: { status?: unknown; metadata: { labels?: Record<string, string> } }) => {
    draft.metadata.labels = { ...draft.metadata.labels, seen: 'yes' };
  };

  it('B12: is made by a function of the page, and all tabs show it', async () => {
    const app = application({ names: ['a'] });
    const labels = liveQuery({
      from: pods,
      select: { name: 'metadata.name', seen: 'metadata.labels.seen' },
    });
    const [one, other] = [app.open(), app.open()];
    const tabs = [follow(one, labels), follow(other, labels)];
    await pass();
    const edited = editInWorker(one, pods, 'shop/a', failed);
    // The worker loads the code of edits with the first one.
    await eventually(async () => {
      await pass();
      for (const { shown } of tabs) expect(shown.rows).toEqual([{ name: 'a', seen: 'yes' }]);
    });
    expect((await edited).metadata.labels).toEqual({ app: 'a', seen: 'yes' });
  });
});

describe('options of a worker and its tabs', () => {
  it('B10: that are invalid throw a TypeError that names them', () => {
    expect(() => serveQueries({} as never)).toThrow(
      /serveQueries: createFactory is undefined; it must be/,
    );
    expect(() => connectWorker({ identity: 'ann' })).toThrow(/pass shared, dedicated or page/);
    expect(() => connectWorker({ identity: '', page: async () => ({}) })).toThrow(/identity is ""/);
    expect(() => application({ lingerMs: Number.NaN })).toThrow(/serveQueries: lingerMs/);
  });
});
