/** Tests of client-go's shared informer that no other spec covers. */

import {
  ApiError,
  addEventHandler,
  createClient,
  createListWatch,
  createSharedInformer,
  type EventHandlerRegistration,
  type InformerWarning,
  type WatchEvent,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import * as fc from '../support/fast-check.ts';
import {
  added,
  deleted,
  modified,
  type Pod,
  pod,
  scriptedInformer,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';
import { logging, settle } from './handler-rig.ts';
import { mirror } from './mirror.ts';

const expired = () => ApiError.fromStatus({ code: 410, reason: 'Expired' }, 410);

describe('the store of an informer', () => {
  it('S2: is read by index before and after the start, also by an index that was added later (TestIndexer)', async () => {
    const source = scriptedListWatch();
    const tiers = ({ metadata }: Pod) => Object.keys(metadata.labels ?? {});
    const labelled = (name: string, ...labels: string[]): Pod => {
      const object = pod(name, 1);
      const entries = labels.map((label) => [label, 'x']);
      return { ...object, metadata: { ...object.metadata, labels: Object.fromEntries(entries) } };
    };
    const informer = createSharedInformer<Pod>(source, { indexers: { labels: tiers } });
    const names = (index: string) =>
      informer.indexer.byIndex(index, 'a').map(({ metadata }) => metadata.name);
    expect(names('labels')).toEqual([]);
    source.listed(1, labelled('p1', 'a', 'b'), labelled('p2', 'b'));
    informer.start();
    expect(names('labels')).toEqual(['p1']);
    source.send(added(labelled('p3', 'a')));
    informer.indexer.addIndexers({ again: tiers });
    expect([names('labels'), names('again')]).toEqual([
      ['p1', 'p3'],
      ['p1', 'p3'],
    ]);
    expect([...informer.indexer.listIndexFuncValues('again')].sort()).toEqual(['a', 'b']);
    await informer.stop();
  });

  it('D4: contains the transformed objects, which handlers receive, too (TestSharedInformerTransformer, TestTransformingInformerRace)', async () => {
    const server = createFakeApiServer();
    const at = { namespace: 'shop', name: 'web' };
    const web = server.objects.create(pods, { metadata: at });
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const transform = (object: object) => ({ ...object, spec: { nodeName: 'TRANSFORMED' } });
    const informer = createSharedInformer(
      createListWatch(client, pods, { transform: transform as never }),
    );
    const nodes: unknown[] = [];
    addEventHandler(informer, {
      onAdd: ({ spec }) => nodes.push(spec?.nodeName),
      onUpdate: (previous, { spec }) => nodes.push(previous.spec?.nodeName, spec?.nodeName),
      onDelete: ({ object }) => nodes.push(object.spec?.nodeName),
    });
    informer.start();
    await informer.whenSynced({ timeoutMs: 1000 });
    const labels = { moved: 'yes' };
    const moved = server.objects.update(pods, { ...web, metadata: { ...web.metadata, labels } });
    await informer.whenObserved('shop/web', moved.metadata?.resourceVersion ?? '');
    expect(informer.indexer.getByKey('shop/web')?.spec?.nodeName).toBe('TRANSFORMED');
    server.objects.delete(pods, at);
    const gone = { uid: web.metadata?.uid ?? '', deleted: true } as const;
    await informer.whenObserved('shop/web', gone);
    expect(nodes).toEqual(Array(4).fill('TRANSFORMED'));
    await informer.stop();
    await client.close();
  });
});

describe('a run', () => {
  it('R13: a failed list is passed to onError and shown in the status (TestSharedInformerErrorHandling)', async () => {
    const time = new VirtualTime();
    const errors: string[] = [];
    const informer = createSharedInformer(
      {
        watchList: false,
        list: () => {
          throw ApiError.fromStatus({ code: 403, message: 'Access Denied' }, 403);
        },
        watch: () => {
          throw new Error('not requested');
        },
      },
      {
        scheduler: time,
        onError: ({ message }) => {
          errors.push(message);
          return 'retry';
        },
      },
    );
    informer.start();
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/Access Denied/);
    expect(informer.status).toMatchObject({ phase: 'backoff', blocked: 'forbidden' });
    await informer.stop();
    expect(time.pending).toBe(0);
  });

  it('I1, I5: handlers that are added before, during and after the start receive every change (TestSharedInformerStartRace, TestSharedInformerInitializationRace)', async () => {
    const { source, informer } = scriptedInformer();
    const logs: string[][] = [];
    const listen = () => {
      const log: string[] = [];
      logs.push(log);
      return addEventHandler(informer, logging(log));
    };
    listen();
    informer.status$.subscribe(({ phase }) => {
      if (phase === 'listing') listen();
    });
    informer.changes$.subscribe(({ initial, synced }) => {
      if (initial && synced) listen();
    });
    informer.start();
    listen();
    source.listed(1, pod('a', 1), pod('b', 1));
    listen();
    source.send(added(pod('c', 2)));
    expect(logs.length).toBeGreaterThanOrEqual(5);
    for (const log of logs) expect(log).toEqual(['+a@1* initial', '+b@1* initial', '+c@2 watch']);
    await informer.stop();
  });

  it('I5, I7: the status shows whether the informer runs, and isStopped whether it was stopped (TestStateSharedInformer)', async () => {
    const informer = createSharedInformer(scriptedListWatch());
    const state = () => [informer.status.phase, informer.isStopped];
    expect(state()).toEqual(['idle', false]);
    informer.start();
    expect(state()).toEqual(['listing', false]);
    await informer.stop();
    expect(state()).toEqual(['stopped', true]);
  });

  it('I7: a stop leaves no request and no timer, with or without a run and handlers (TestShutdown)', async () => {
    for (const [starts, handlers] of [
      [true, 1],
      [true, 0],
      [false, 1],
      [false, 0],
    ] as const) {
      const time = new VirtualTime();
      const { source, informer } = scriptedInformer({ scheduler: time, resyncPeriodMs: 1000 });
      for (let at = 0; at < handlers; at++) {
        addEventHandler(informer, {}, { resyncPeriodMs: 2000 });
      }
      source.listed(1, pod('a', 1));
      if (starts) informer.start();
      await informer.stop();
      expect([source.open, time.pending]).toEqual([0, 0]);
    }
  });
});

describe('handlers that throw', () => {
  it('I3, I12: receive the next change, count as synced, and receive the object again at a resync (TestEventPanics)', async () => {
    const time = new VirtualTime();
    const source = scriptedListWatch();
    const errors: unknown[] = [];
    const informer = createSharedInformer(source, {
      name: 'pods',
      scheduler: time,
      onUnhandledError: (error, context) => errors.push([String(error), context]),
    });
    const log: string[] = [];
    const fails = new Set(['a', 'c']);
    const handle = ({ metadata: { name } }: Pod) => {
      if (fails.delete(name)) throw new Error(`no ${name}`);
      log.push(name);
    };
    const registration = addEventHandler(
      informer,
      { onAdd: handle, onUpdate: (_previous, object) => handle(object) },
      { name: 'reconcile', resyncPeriodMs: 1000 },
    );
    source.listed(1, pod('a', 1), pod('b', 1));
    informer.start();
    source.send(added(pod('c', 2)), added(pod('d', 3)));
    expect(registration.hasSynced).toBe(true);
    expect(log).toEqual(['b', 'd']);
    const context = (key: string) => ({ informer: 'pods', subscriber: 'reconcile', key });
    expect(errors).toEqual([
      ['Error: no a', context('shop/a')],
      ['Error: no c', context('shop/c')],
    ]);
    await time.advance(1000);
    expect(log.slice(2)).toEqual(['a', 'b', 'c', 'd']);
    await informer.stop();
  });
});

describe('resyncs', () => {
  it.each([
    [0, 0],
    [0, 1000],
    [1000, 0],
    [1000, 1000],
  ])(
    'I18, I21: a relist reports the difference to all handlers, and unchanged objects only as resyncs: informer %i, handler %i (TestSharedInformerWatchDisruption)',
    async (resyncPeriodMs, other) => {
      const time = new VirtualTime();
      const { source, informer } = scriptedInformer({
        scheduler: time,
        resyncPeriodMs,
        backoff: () => 0,
      });
      const never: string[] = [];
      const own: string[] = [];
      const inherits: string[] = [];
      addEventHandler(informer, logging(never), { resyncPeriodMs: 0 });
      addEventHandler(informer, logging(own), { resyncPeriodMs: other });
      addEventHandler(informer, logging(inherits));
      source.listed(1, pod('p1', 1), pod('p2', 2));
      informer.start();
      await time.advance(500);
      source.listed(9, pod('p1', 1), pod('p2', 4), pod('p3', 3));
      source.fail(expired());
      await time.advance(1);
      const first = ['+p1@1* initial', '+p2@2* initial', '~p2@2>4 relist', '+p3@3 relist'];
      expect([never, own, inherits]).toEqual([first, first, first]);
      await time.advance(500);
      const resynced = [...first, '~p1@1>1 resync', '~p2@4>4 resync', '~p3@3>3 resync'];
      expect(never).toEqual(first);
      expect(own).toEqual(other === 0 ? first : resynced);
      expect(inherits).toEqual(resyncPeriodMs === 0 ? first : resynced);
      await informer.stop();
    },
  );

  it('I18: a shorter period on a running informer is raised to the shortest period at the start of the run (TestResyncCheckPeriod)', async () => {
    const time = new VirtualTime();
    const source = scriptedListWatch();
    const warnings: InformerWarning[] = [];
    const informer = createSharedInformer(source, {
      name: 'pods',
      scheduler: time,
      resyncPeriodMs: 20_000,
      onWarning: (warning) => warnings.push(warning),
    });
    const ticks: string[] = [];
    const listen = (name: string, resyncPeriodMs: number) =>
      addEventHandler(
        informer,
        { onUpdate: () => ticks.push(`${name}@${time.now()}`) },
        { name, resyncPeriodMs },
      );
    listen('before', 5000);
    source.listed(1, pod('web', 1));
    informer.start();
    listen('hasty', 2000);
    listen('calm', 7000);
    listen('never', 0);
    await time.advance(10_000);
    expect(ticks).toEqual([
      'before@5000',
      'hasty@5000',
      'calm@7000',
      'before@10000',
      'hasty@10000',
    ]);
    expect(warnings).toMatchObject([
      { type: 'resync-raised', informer: 'pods', subscriber: 'hasty' },
    ]);
    expect(warnings[0]?.message).toMatch(
      /every 2000 ms\. The informer is already running with a check period of 5000 ms/,
    );
    await informer.stop();
  });

  it('I18: a handler that joins a run without a check period keeps its period', async () => {
    const time = new VirtualTime();
    for (const never of [undefined, 0, Number.POSITIVE_INFINITY]) {
      const { source, informer } = scriptedInformer({
        scheduler: time,
        ...(never === undefined ? {} : { resyncPeriodMs: never }),
      });
      source.listed(1, pod('web', 1));
      informer.start();
      const began = time.now();
      const ticks: number[] = [];
      const onUpdate = () => ticks.push(time.now() - began);
      addEventHandler(informer, { onUpdate }, { resyncPeriodMs: 2000 });
      await time.advance(5000);
      expect(ticks).toEqual([2000, 4000]);
      await informer.stop();
    }
  });

  it('I18, I20: the resyncs of a busy handler wait as one update per key', async () => {
    const time = new VirtualTime();
    const { source, informer } = scriptedInformer({ scheduler: time });
    const log: string[] = [];
    const waiting: (() => void)[] = [];
    const wait = () => new Promise<void>((resolve) => waiting.push(resolve));
    const registration = addEventHandler(informer, logging(log, wait), { resyncPeriodMs: 1000 });
    source.listed(1, pod('a', 1), pod('b', 1));
    informer.start();
    await time.advance(30_500);
    source.send(modified(pod('b', 2)));
    expect(registration.lag).toBe(2);
    while (waiting.length > 0) {
      waiting.shift()?.();
      await settle();
    }
    expect(log).toEqual(['+a@1* initial', '+b@2* initial', '~a@1>1 resync']);
    await informer.stop();
  });
});

describe('many handlers', () => {
  it('I1, I17: a hundred handlers that are added and removed during changes have no gap and no duplicate (TestSharedInformerHandlerAbuse)', async () => {
    const step = fc.tuple(fc.nat(99), fc.nat(5), fc.constantFrom('put', 'end', 'toggle', 'asynch'));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 200, maxLength: 400 }), async (steps) => {
        const { source, informer } = scriptedInformer();
        const workers = new Map<number, EventHandlerRegistration>();
        const stories = new Map<EventHandlerRegistration, Map<string, Pod>>();
        const join = (asynch: boolean) => {
          const had = new Map<string, Pod>();
          const answer = () => (asynch ? Promise.resolve() : undefined);
          const registration = addEventHandler(informer, mirror(had, answer));
          stories.set(registration, had);
          return registration;
        };
        source.listed(1, pod('p0', 1));
        informer.start();
        let version = 2;
        for (const [worker, name, action] of steps) {
          if (action === 'put' || action === 'end') {
            const object = pod(`p${name}`, version++);
            const event: WatchEvent<Pod> = action === 'put' ? modified(object) : deleted(object);
            source.send(event);
            continue;
          }
          const registration = workers.get(worker);
          if (registration === undefined) workers.set(worker, join(action === 'asynch'));
          else {
            workers.delete(worker);
            stories.delete(registration);
            void registration.remove();
          }
          if (worker === 0) await Promise.resolve();
        }
        await settle();
        const store = new Map(
          informer.indexer.listKeys().map((key) => [key, informer.indexer.getByKey(key)]),
        );
        for (const [registration, had] of stories) {
          expect([registration.lag, registration.hasSynced]).toEqual([0, true]);
          expect(had).toEqual(store);
        }
        await informer.stop();
        expect(source.open).toBe(0);
      }),
      { numRuns: 25 },
    );
  });
});
