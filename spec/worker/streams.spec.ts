/** Tests named queries of a worker that return streams of live operators. */
import {
  createLiveQueries,
  type InformerFactory,
  type LiveQueries,
  liveFilter,
  liveJoin,
  liveMap,
  liveQuery,
  liveSort,
  liveTop,
  toView,
} from 'rx-informer';
import { configMaps, type Pod, pods } from 'rx-informer/resources';
import { changeSet } from 'rx-informer/testing';
import { editInWorker, type WorkerQueries, workerQuery } from 'rx-informer/worker';
import { NEVER, of } from 'rxjs';
import { finalize, map, mergeWith, tap } from 'rxjs/operators';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { checkedSets } from '../../lib/worker/server/checked-sets.ts';
import { type BrowserRig, follow, type RigTab } from './browser-rig.ts';
import { podOf, rigWith } from './rig-pods.ts';
// The worker loads it with the first edit, which takes real time.
import '../../lib/worker/server/edits.ts';

/** Pods, each with the ConfigMap of its name. */
const settings = (phase: string, live: LiveQueries) =>
  live.stream(liveQuery({ from: pods })).pipe(
    liveFilter((pod) => pod.status?.phase === phase),
    liveJoin(live.stream(liveQuery({ from: configMaps })), {
      on: { left: ({ metadata }) => metadata.name, right: ({ metadata }) => metadata.name },
      one: true,
      project: (pod, map) => ({ name: pod.metadata.name, color: map?.data?.['color'] }),
    }),
    liveSort((one, other) => (one.name < other.name ? -1 : 1)),
  );
const queries = { settings };

function colorOf(name: string, color: string) {
  return { metadata: { namespace: 'shop', name }, data: { color } };
}

/** What a plain program shows. */
function plainly({ server }: BrowserRig, phase: string) {
  const maps = server.objects.list(configMaps);
  return server.objects
    .list(pods)
    .filter(({ status }) => status?.phase === phase)
    .map(({ metadata: { name = '' } = {} }) => ({
      name,
      color: maps.find(({ metadata }) => metadata?.name === name)?.data?.['color'],
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

const ask = ({ cluster }: RigTab, phase = 'Running') =>
  follow(cluster, workerQuery<typeof queries, 'settings'>('settings', phase));

/** Follows a query whose type does not matter. */
const own = ({ cluster }: RigTab, params?: unknown) =>
  follow(cluster, { named: 'own', ...(params !== undefined && { params }) } as never);

function rigOf(all: WorkerQueries, ...names: string[]): BrowserRig {
  const rig = rigWith(...names);
  rig.queries = all;
  return rig;
}

describe('streams of a worker', () => {
  it('B17: a stream runs once for all tabs, which show what a plain program shows', async () => {
    let calls = 0;
    const rig = rigOf(
      {
        settings: (phase: string, live) => {
          calls++;
          return settings(phase, live);
        },
      },
      'b',
      'a',
    );
    rig.server.objects.create(configMaps, colorOf('a', 'red'));
    const [one, other] = [ask(rig.open()), ask(rig.open())];
    await rig.pass(1_000);
    const expected = [
      { name: 'a', color: 'red' },
      { name: 'b', color: undefined },
    ];
    for (const { shown } of [one, other]) {
      expect(shown.rows).toEqual(expected);
      expect([shown.total, shown.synced, shown.status.live]).toEqual([2, true, true]);
    }
    expect(plainly(rig, 'Running')).toEqual(expected);
    // The stream, and the two queries that it reads.
    expect([calls, rig.counts]).toEqual([1, { tabs: 2, pipelines: 3 }]);
    expect(rig.requests.filter((each) => each.startsWith('WATCH'))).toHaveLength(2);
    const third = ask(rig.open(), 'Pending');
    const [, b] = one.shown.rows;
    expectTypeOf(b).toExtend<{ name: string; color: string | undefined } | undefined>();
    rig.server.objects.update(configMaps, colorOf('a', 'blue'));
    rig.server.objects.create(pods, podOf('c', 'Pending'));
    await rig.pass(1_000);
    expect([calls, rig.counts]).toEqual([2, { tabs: 3, pipelines: 4 }]);
    for (const { shown } of [one, other]) expect(shown.rows).toEqual(plainly(rig, 'Running'));
    expect(third.shown.rows).toEqual(plainly(rig, 'Pending'));
    expect(one.shown.rows[1]).toBe(b);
    const late = ask(rig.open());
    await rig.pass(100);
    expect([late.shown.rows, calls]).toEqual([plainly(rig, 'Running'), 2]);
  });

  it('B17: the order of the fields of parameters does not matter', async () => {
    const received: unknown[] = [];
    const rig = rigOf(
      {
        own: (params: unknown, live) => {
          received.push(params);
          return live.stream(liveQuery({ from: pods })).pipe(liveMap(() => 'row'));
        },
      },
      'a',
    );
    const tabs = [own(rig.open(), { a: 1, b: { c: 2, d: 3 } })];
    tabs.push(own(rig.open(), { b: { d: 3, c: 2 }, a: 1 }));
    await rig.pass(1_000);
    expect(tabs.map(({ shown }) => shown.rows)).toEqual([['row'], ['row']]);
    expect(received).toEqual([{ a: 1, b: { c: 2, d: 3 } }]);
    const other = own(rig.open(), { a: 1, b: [2, 3] });
    await rig.pass(1_000);
    expect([other.shown.rows, received.length]).toEqual([['row'], 2]);
  });

  it('B17: a stream stays for the linger after its last tab, and then nothing of it is left', async () => {
    const rig = rigOf(queries, 'a');
    rig.factoryOptions = () => ({ lingerMs: 5_000 });
    const tab = rig.open();
    const first = ask(tab);
    await rig.pass(1_000);
    first.leave();
    await rig.pass(4_000);
    expect(rig.counts.pipelines).toBe(3);
    const requests = rig.requests.length;
    const again = ask(tab);
    await rig.pass(4_000);
    expect([again.shown.synced, rig.counts.pipelines]).toEqual([true, 3]);
    expect(rig.requests.length).toBe(requests);
    again.leave();
    // The queries linger from the end of the stream on.
    await rig.pass(5_500);
    expect(rig.counts.pipelines).toBe(2);
    await rig.pass(60_000);
    expect(rig.counts.pipelines).toBe(0);
    expect(rig.server.openWatches).toEqual([]);
  });

  it('B17: a stream that completes while it lingers is dropped, because its rows are outdated', async () => {
    const rig = rigOf(queries, 'a');
    const factories: InformerFactory[] = [];
    rig.onFactory = (factory) => factories.push(factory);
    rig.factoryOptions = () => ({ lingerMs: 50_000 });
    const tab = ask(rig.open());
    await rig.pass(1_000);
    tab.leave();
    await rig.pass(1_000);
    expect(rig.counts.pipelines).toBe(3);
    await factories[0]?.stop();
    await rig.pass(1_000);
    expect(rig.counts.pipelines).toBe(0);
  });

  it('B17: a stream ends with its session, also one that does not complete and lingers for ever', async () => {
    let running = 0;
    const rig = rigOf(
      {
        own: (_params: unknown, live) =>
          live.stream(liveQuery({ from: pods })).pipe(
            liveMap(({ metadata }) => metadata.name),
            mergeWith(NEVER),
            tap({ subscribe: () => running++ }),
            finalize(() => running--),
          ),
      },
      'a',
    );
    rig.factoryOptions = () => ({ lingerMs: Number.POSITIVE_INFINITY });
    const tab = rig.open();
    const followed = own(tab);
    await rig.pass(1_000);
    expect([followed.shown.rows, running]).toEqual([['a'], 1]);
    followed.leave();
    await rig.pass(600_000);
    expect([running, rig.counts.pipelines]).toEqual([1, 2]);
    tab.cluster.signedOut();
    await rig.pass(1_000);
    expect([running, rig.counts.pipelines]).toEqual([0, 0]);
  });

  it('B17: rows and status are those of a view without a worker, over stops and starts of the informers', async () => {
    let running = 0;
    const counted = (phase: string, live: LiveQueries) =>
      settings(phase, live).pipe(
        tap({ subscribe: () => running++ }),
        finalize(() => running--),
      );
    const rig = rigOf({ settings: counted }, 'a');
    const factories: InformerFactory[] = [];
    rig.onFactory = (factory) => factories.push(factory);
    const tabs = [ask(rig.open()), ask(rig.open())];
    await rig.pass(1_000);
    const [factory] = factories as [InformerFactory];
    const view = toView(settings('Running', createLiveQueries(factory)));
    view.subscribe(() => undefined);
    const phases: unknown[] = [];
    const compare = async () => {
      await rig.pass(5_000);
      const { rows, total, synced, status, stale, error } = view.getSnapshot();
      const { phase, live } = status;
      for (const { shown } of tabs) {
        expect(shown).toMatchObject({ rows, total, synced, status: { phase, live } });
        expect([shown.stale, shown.error]).toEqual([stale, error]);
      }
      expect(rig.counts.pipelines).toBe(3);
      phases.push([phase, synced, rows[0]?.color, running]);
    };
    await compare();
    await factory.stop();
    rig.server.objects.create(configMaps, colorOf('a', 'red'));
    await compare();
    factory.start();
    await compare();
    // One of two, which is removed, and requested again.
    await factory.stop(configMaps);
    await compare();
    rig.server.objects.update(configMaps, colorOf('a', 'blue'));
    factory.informer(configMaps);
    await compare();
    expect(phases).toEqual([
      ['watching', true, undefined, 1],
      ['stopped', false, undefined, 0],
      ['watching', true, 'red', 1],
      ['stopped', true, 'red', 1],
      ['watching', true, 'blue', 1],
    ]);
  });

  it('B17: a stream of informers themselves runs once, too, also if a tab comes while one of them is stopped', async () => {
    let running = 0;
    const made: InformerFactory[] = [];
    const rig = rigOf(
      {
        own: () => {
          const factory = made[0] as InformerFactory;
          return factory.informer(pods).changes$.pipe(
            liveJoin(factory.informer(configMaps).changes$, {
              on: { left: ({ metadata }) => metadata.name, right: ({ metadata }) => metadata.name },
              project: ({ metadata: { name } }, all) => `${name} ${all.length}`,
            }),
            tap({ subscribe: () => running++ }),
            finalize(() => running--),
          );
        },
      },
      'a',
    );
    rig.onFactory = (factory) => made.push(factory);
    const tabs = [own(rig.open())];
    await rig.pass(1_000);
    expect(tabs.map(({ shown }) => shown.rows)).toEqual([['a 0']]);
    const informer = made[0]?.informer(configMaps);
    await informer?.stop();
    await rig.pass(1_000);
    expect(tabs[0]?.shown.status.phase).toBe('stopped');
    // The subscription of another tab starts the informer again.
    tabs.push(own(rig.open()), own(rig.open()), own(rig.open()));
    rig.server.objects.create(configMaps, colorOf('a', 'red'));
    await rig.pass(5_000);
    expect(running).toBe(1);
    for (const { shown } of tabs) {
      expect([shown.rows, shown.synced, shown.stale]).toEqual([['a 1'], true, undefined]);
    }
  });

  it('B12: a stream shows what an edit of any tab has changed, until the watch has it', async () => {
    const rig = rigOf(
      {
        own: (_params: unknown, live) =>
          live
            .stream(liveQuery({ from: pods }))
            .pipe(liveMap(({ metadata: { labels } }) => labels?.['tier'] ?? 'none')),
      },
      'a',
    );
    const tab = rig.open();
    const other = own(rig.open());
    await rig.pass(1_000);
    expect(other.shown.rows).toEqual(['none']);
    rig.server.faults.delay(5_000, { method: 'PATCH' });
    const edited = editInWorker(tab.cluster, pods, 'shop/a', (draft) => {
      draft.metadata.labels = { tier: 'web' };
    });
    await rig.pass(1_000);
    expect(other.shown.rows).toEqual(['web']);
    expect(rig.server.objects.list(pods)[0]?.metadata?.labels).toBeUndefined();
    await rig.pass(10_000);
    await edited;
    expect(other.shown.rows).toEqual(['web']);
  });
});

describe('what a stream of a worker may not be', () => {
  const raw = (live: LiveQueries) => live.stream(liveQuery({ from: pods }));
  const rejected: [string, (live: LiveQueries) => unknown, RegExp][] = [
    [
      'no stream of informers',
      () => of(1),
      /own: its stream emits 1 that is no change set; use live operators/,
    ],
    ['no query', () => ({ from: 1 }), /liveQuery: from is/],
    [
      'rows without change sets',
      (live) => raw(live).pipe(map(({ added }) => added)),
      /own: its stream emits an array that is no change set; use live operators/,
    ],
    [
      'nothing',
      (live) => raw(live).pipe(map(() => undefined)),
      /emits undefined that is no change/,
    ],
  ];
  it.each(rejected)('B3: %s is refused, with what to do', async (_what, make, message) => {
    const rig = rigOf({ own: (_params, live) => make(live) as never }, 'a');
    const tab = own(rig.open());
    await rig.pass(3_000);
    expect(String(tab.shown.status.error)).toMatch(message);
    expect([tab.shown.synced, tab.shown.rows.length]).toEqual([false, 0]);
  });

  const copies: [string, (live: LiveQueries) => unknown][] = [
    ['rows', raw],
    ['a field of its rows', (live) => raw(live).pipe(liveMap((pod) => ({ pod })))],
    ['a list in its rows', (live) => raw(live).pipe(liveMap((pod) => ({ pods: [pod] })))],
  ];
  it.each(copies)('B3: complete objects in %s are at most 200', async (_where, make) => {
    const names = Array.from({ length: 200 }, (_, at) => `p${at}`);
    const rig = rigOf({ own: (_params, live) => make(live) as never }, ...names);
    const tab = own(rig.open());
    await rig.pass(3_000);
    expect([tab.shown.synced, tab.shown.rows.length]).toEqual([true, 200]);
    // One that goes makes place for another one.
    rig.server.objects.delete(pods, { namespace: 'shop', name: 'p0' });
    rig.server.objects.create(pods, podOf('another'));
    await rig.pass(3_000);
    expect([tab.shown.synced, tab.shown.rows.length]).toEqual([true, 200]);
    rig.server.objects.create(pods, podOf('more'));
    await rig.pass(3_000);
    expect(String(tab.shown.status.error)).toMatch(
      /own: its stream has 201 rows with complete objects, .*200 .*liveMap, or .*liveWindow/,
    );
  });

  it('B3: a set that replaces all rows counts for itself', () => {
    const pod = (uid: number) => ({ metadata: { name: `p${uid}`, uid: `${uid}` } });
    const all = Array.from({ length: 150 }, (_, at) => pod(at));
    const check = checkedSets('own');
    const reset = changeSet({ reset: true, added: all });
    for (const set of [reset, reset]) expect(() => check(set)).not.toThrow();
    const more = changeSet({ reset: false, added: all.map((_, at) => pod(500 + at)) });
    expect(() => check(more)).toThrow(/300 rows/);
  });

  it('B3: a stream that ends in a window, or makes rows of columns, may have any number of objects before', async () => {
    const names = Array.from({ length: 250 }, (_, at) => `p${at}`);
    const byName = (one: Pod, other: Pod) =>
      (one.metadata?.name ?? '') < (other.metadata?.name ?? '') ? -1 : 1;
    const rig = rigOf(
      {
        own: (kind: string, live) =>
          kind === 'window'
            ? raw(live).pipe(liveTop(5, byName))
            : raw(live).pipe(liveMap(({ metadata: { name, uid } }) => ({ metadata: name, uid }))),
      },
      ...names,
    );
    const tabs = [own(rig.open(), 'window'), own(rig.open(), 'columns')];
    await rig.pass(3_000);
    expect(tabs.map(({ shown }) => [shown.synced, shown.rows.length, shown.total])).toEqual([
      [true, 5, 250],
      [true, 250, 250],
    ]);
  });

  it('B4: an error in a function of a stream reaches the tabs with its stack, and so does one of the stream', async () => {
    const rig = rigOf(
      {
        own: (kind: string, live) => {
          if (kind === 'call') throw new RangeError('no call');
          const stream = raw(live).pipe(
            liveMap(({ metadata: { name } }) => {
              if (name === 'b') throw new RangeError('no b');
              return { name };
            }),
          );
          if (kind === 'row') return stream;
          return stream.pipe(
            map(() => {
              throw new RangeError('no set');
            }),
          );
        },
      },
      'a',
      'b',
    );
    const [call, row, set] = ['call', 'row', 'set'].map((kind) => own(rig.open(), kind));
    await rig.pass(3_000);
    expect([row?.shown.rows, row?.shown.synced]).toEqual([[{ name: 'a' }], true]);
    const errors = [
      call?.shown.status.error,
      row?.shown.status.refusedRows[0]?.error as Error,
      set?.shown.status.error,
    ];
    expect(errors.map((error) => `${error?.name}: ${error?.message}`)).toEqual([
      'RangeError: no call',
      'RangeError: no b',
      'RangeError: no set',
    ]);
    for (const error of errors) expect(error?.stack).toContain('streams.spec.ts');
  });

  it('B17: a stream that has failed runs again for the next tab that asks', async () => {
    let isBroken = true;
    const rig = rigOf(
      {
        own: (_params: unknown, live) =>
          raw(live).pipe(
            liveMap(({ metadata }) => metadata.name),
            tap(() => {
              if (isBroken) throw new Error('broken');
            }),
          ),
      },
      'a',
    );
    const first = own(rig.open());
    await rig.pass(3_000);
    expect(String(first.shown.status.error)).toMatch(/broken/);
    isBroken = false;
    const second = own(rig.open());
    await rig.pass(3_000);
    expect([second.shown.rows, second.shown.synced]).toEqual([['a'], true]);
    first.leave();
    second.leave();
    await rig.pass(600_000);
    expect(rig.counts.pipelines).toBe(0);
  });

  it('B1, B4: what a stream that fails has shown stays, as in a view without a worker', async () => {
    let isBroken = false;
    const made: InformerFactory[] = [];
    const stream = (_params: unknown, live: LiveQueries) =>
      raw(live).pipe(
        liveMap(({ metadata }) => metadata.name),
        tap(() => {
          if (isBroken) throw new Error('broken');
        }),
      );
    const rig = rigOf({ own: stream }, 'a');
    rig.onFactory = (factory) => made.push(factory);
    const tab = own(rig.open());
    await rig.pass(3_000);
    const view = toView(stream(undefined, createLiveQueries(made[0] as InformerFactory)));
    view.items$.subscribe({ error: () => undefined });
    isBroken = true;
    rig.server.objects.create(pods, podOf('b'));
    await rig.pass(3_000);
    const { rows, total, synced, stale, error } = view.getSnapshot();
    expect([rows, synced, error?.message]).toEqual([['a'], true, 'broken']);
    expect(tab.shown).toMatchObject({ rows, total, synced, error: { message: 'broken' } });
    expect(tab.shown.stale).toBe(stale);
    expect(tab.shown.status).toMatchObject({ phase: 'stopped', live: false });
    expect(tab.shown.status.error).toBe(tab.shown.error);
  });

  it('B20: the error of a refused row says which part of it cannot be sent', async () => {
    const parts: Record<string, unknown> = {
      field: { status: { open: () => 1 } },
      list: { containers: [{}, { open: () => 1 }] },
      row: () => 1,
    };
    const circle: Record<string, unknown> = { a: 1 };
    parts['circle'] = Object.assign(circle, { circle });
    const rig = rigOf(
      { own: (kind: string, live) => raw(live).pipe(liveMap(() => parts[kind])) },
      'a',
    );
    const uid = rig.server.objects.list(pods)[0]?.metadata?.uid;
    const tabs = Object.keys(parts).map((kind) => own(rig.open(), kind));
    await rig.pass(3_000);
    const errors = tabs.map(({ shown }) => `${shown.status.refusedRows[0]?.error}`);
    const places = ['status.open is a function', 'containers.1.open is a function'];
    const reasons = [...places, 'it is a function', 'it is nested over 500 levels deep'];
    for (const [at, reason] of reasons.entries()) {
      expect(errors[at]).toContain(`Error: ${uid} cannot be sent, because ${reason}; select `);
    }
  });
});
