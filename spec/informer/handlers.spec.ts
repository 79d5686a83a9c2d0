/** Event handlers like those of client-go, their resyncs, and the warning about a handler of an informer that is not started. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  ApiError,
  addEventHandler,
  createClient,
  createListWatch,
  createSharedInformer,
  type InformerWarning,
  type SharedInformerOptions,
} from 'rx-informer';
import { configMaps } from 'rx-informer/resources';
import { createFakeApiServer, marbles, seededRandom } from 'rx-informer/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { eventually } from '../support/patience.ts';
import {
  added,
  deleted,
  modified,
  type Pod,
  pod,
  scriptedInformer,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';
import { logging } from './handler-rig.ts';

describe('handlers', () => {
  it('I12: a registration is synced once its handler has returned for the first list', () => {
    const { source, informer } = scriptedInformer();
    const during: boolean[] = [];
    const registration = addEventHandler(informer, {
      onAdd: () => {
        during.push(registration.hasSynced);
      },
    });
    informer.start();
    expect(registration.hasSynced).toBe(false);
    source.listed(1, pod('web', 1));
    expect(during).toEqual([false]);
    expect(registration.hasSynced).toBe(true);
  });

  it('I3, I12: a handler that throws is reported with its name and the key, is called again, and counts as synced (TestEventPanics)', () => {
    const reports: unknown[] = [];
    const { source, informer } = scriptedInformer({
      name: 'pods',
      onUnhandledError: (error, context) => reports.push([String(error), context]),
    });
    const received: string[] = [];
    const registration = addEventHandler(
      informer,
      {
        onAdd: (object) => {
          received.push(object.metadata.name);
          if (object.metadata.name === 'web') throw new Error('boom');
        },
      },
      { name: 'reconcile' },
    );
    source.listed(1, pod('web', 1), pod('db', 1));
    informer.start();
    expect(received).toEqual(['web', 'db']);
    expect(registration.hasSynced).toBe(true);
    const context = { informer: 'pods', subscriber: 'reconcile', key: 'shop/web' };
    expect(reports).toEqual([['Error: boom', context]]);
  });

  it('I3: a rejected promise of a handler is reported, too', async () => {
    const reports: string[] = [];
    const { source, informer } = scriptedInformer({
      onUnhandledError: (error) => reports.push(String(error)),
    });
    addEventHandler(informer, { onAdd: () => Promise.reject(new Error('late')) as never });
    source.listed(1, pod('web', 1));
    informer.start();
    await Promise.resolve();
    await Promise.resolve();
    expect(reports).toEqual(['Error: late']);
  });

  it('S5: in each callback the store shows the complete relist', async () => {
    const { source, informer } = scriptedInformer({ backoff: () => 0 });
    source.listed(1, pod('a', 1), pod('b', 1));
    informer.start();
    const seen: unknown[] = [];
    const look = (callback: string) => () => {
      seen.push([callback, informer.indexer.listKeys().length, informer.lastSyncResourceVersion]);
    };
    addEventHandler(informer, { onUpdate: look('update'), onDelete: look('delete') });
    source.listed(9, pod('b', 5), pod('c', 6));
    const gone = { type: 'ERROR' } as const;
    const { ApiError } = await import('rx-informer');
    const error = ApiError.fromStatus({ code: 410, reason: 'Expired' }, 410);
    source.send({ ...gone, error });
    await eventually(() =>
      expect(seen).toEqual([
        ['delete', 2, '9'],
        ['update', 2, '9'],
      ]),
    );
  });

  it('I18: each registration has its own resync period of at least a second, or 0 for never (TestListenerResyncPeriods)', () =>
    marbles(({ scheduler }) => {
      const { source, informer } = scriptedInformer({ scheduler });
      const ticks: [string, number][] = [];
      const listen = (name: string, resyncPeriodMs: number) =>
        addEventHandler(
          informer,
          { onUpdate: () => ticks.push([name, scheduler.now()]) },
          { resyncPeriodMs },
        );
      listen('never', 0);
      listen('two', 2000);
      listen('three', 3000);
      listen('hasty', 1000);
      expect(() => listen('refused', 10)).toThrow(/resyncPeriodMs is 10; it must be 1000 or more/);
      source.listed(1, pod('web', 1));
      informer.start();
      scheduler.schedule(() => void informer.stop(), 6500);
      scheduler.schedule(() => {
        const of = (name: string) =>
          ticks.filter(([handler]) => handler === name).map(([, at]) => at);
        expect(of('never')).toEqual([]);
        expect(of('two')).toEqual([2000, 4000, 6000]);
        expect(of('three')).toEqual([3000, 6000]);
        expect(of('hasty')).toEqual([1000, 2000, 3000, 4000, 5000, 6000]);
        // The resyncs end with the run. Otherwise this test would never end.
      }, 60_000);
    }));

  it('X5, I18: a period or a linger over 2^31 ms is kept, and an infinite one never ends', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    for (const longMs of [3e9, Number.POSITIVE_INFINITY]) {
      let resyncs = 0;
      const handler = { onUpdate: () => resyncs++ };
      const { source, informer } = scriptedInformer({ resyncPeriodMs: longMs, lingerMs: longMs });
      const own = createSharedInformer(source);
      source.listed(1, pod('web', 1));
      const held = informer.changes$.subscribe();
      source.listed(1, pod('web', 1));
      addEventHandler(own, handler, { resyncPeriodMs: longMs });
      own.start();
      informer.changes$.subscribe((set) => {
        if (set.cause === 'resync') resyncs++;
      });
      held.unsubscribe();
      const left = createSharedInformer(source, { lingerMs: longMs });
      source.listed(1, pod('web', 1));
      left.changes$.subscribe().unsubscribe();
      await vi.advanceTimersByTimeAsync(30);
      expect([resyncs, left.status.phase, left.indexer.size]).toEqual([0, 'watching', 1]);
      await Promise.all([informer.stop(), own.stop(), left.stop()]);
    }
  });

  it('I2, S8: an object that a handler deletes on its update is deleted once, and no update shows an older state (TestUpdate)', async () => {
    const time = new VirtualTime();
    const server = createFakeApiServer({ scheduler: time });
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
    const informer = createSharedInformer(
      createListWatch(client, configMaps, { scheduler: time }),
      {
        scheduler: time,
      },
    );
    const transitions = new Set<string>();
    const deletions: string[] = [];
    const checkOf = ({ data }: { data?: Record<string, string> }) => data?.['check'] ?? '';
    addEventHandler(
      informer,
      {
        onUpdate: (previous, object) => {
          transitions.add(`${checkOf(previous)} ${checkOf(object)}`);
          const { namespace = '', name = '' } = object.metadata;
          const isThere = server.objects.get(configMaps, { namespace, name }) !== undefined;
          if (checkOf(object) === 'to' && isThere)
            server.objects.delete(configMaps, { namespace, name });
        },
        onDelete: ({ key }) => deletions.push(key),
      },
      { resyncPeriodMs: 1_000 },
    );
    informer.start();
    const random = seededRandom(7);
    const names: string[] = [];
    // The steps of three writers interleave with resyncs and with the deletions of the handler.
    const waiting = Array.from({ length: 30 }, (_, at) => ({ name: `a-${at}`, isMade: false }));
    while (waiting.length > 0) {
      const at = Math.floor(random() * Math.min(3, waiting.length));
      const writer = waiting[at] as (typeof waiting)[number];
      const place = { namespace: 'shop', name: writer.name };
      if (writer.isMade) {
        waiting.splice(at, 1);
        server.objects.modify(configMaps, place, (draft) => {
          draft.data = { check: 'to' };
        });
      } else {
        writer.isMade = true;
        names.push(`shop/${writer.name}`);
        server.objects.create(configMaps, { metadata: place, data: { check: 'from' } });
      }
      if (random() < 0.5) await time.advance(Math.floor(random() * 700));
    }
    await time.advance(5_000);
    expect([...deletions].sort()).toEqual(names.sort());
    expect([...transitions].sort()).toEqual(['from from', 'from to']);
    expect(informer.indexer.size).toBe(0);
    await informer.stop();
  });

  it('S8: an event is an add or an update by the contents of the store, not by the type that the server sent', () => {
    const { source, informer } = scriptedInformer();
    const log: string[] = [];
    addEventHandler(informer, {
      onAdd: (object) => log.push(`+${object.metadata.resourceVersion}`),
      onUpdate: (previous, object) =>
        log.push(`~${previous.metadata.resourceVersion}>${object.metadata.resourceVersion}`),
      onDelete: ({ object }) => log.push(`-${object.metadata.resourceVersion}`),
    });
    source.listed(1);
    informer.start();
    source.send(modified(pod('web', 2)), added(pod('web', 3)), deleted(pod('web', 4)));
    source.send(deleted(pod('web', 5)), added(pod('web', 6, 'another')));
    expect(log).toEqual(['+2', '~2>3', '-4', '+6']);
  });
});

const expired = () => ApiError.fromStatus({ code: 410, reason: 'Expired' }, 410);

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
    const warnings: InformerWarning[] = [];
    const { source, informer } = scriptedInformer({
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
});

function rig(options: SharedInformerOptions<Pod> = {}) {
  const time = new VirtualTime();
  const warnings: InformerWarning[] = [];
  const { source, informer } = scriptedInformer({
    ...{ name: 'pods', scheduler: time, idleTimeoutMs: Number.POSITIVE_INFINITY },
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
  source.listed(1, pod('web', 1));
  return { time, source, informer, warnings };
}

describe('a handler of an informer that was not started', () => {
  it('I65: causes one warning after 10 s, with one timer for all handlers', async () => {
    const { time, informer, warnings } = rig();
    addEventHandler(informer, {}, { name: 'audit' });
    await time.advance(4_000);
    addEventHandler(informer, {});
    expect(time.pending).toBe(1);
    await time.advance(5_999);
    expect(warnings).toEqual([]);
    await time.advance(1);
    expect(warnings).toEqual([
      {
        ...{ type: 'not-started', informer: 'pods', subscriber: 'audit' },
        message:
          'audit (and 1 more) was added 10 s ago and is not called, because the informer was not started: call start()',
      },
    ]);
    addEventHandler(informer, {});
    await time.advance(60_000);
    expect([warnings.length, time.pending]).toEqual([1, 0]);
  });

  it.each<[string, (of: ReturnType<typeof rig>) => unknown]>([
    ['a start', ({ informer }) => informer.start()],
    ['a subscription, which starts the informer', ({ informer }) => informer.changes$.subscribe()],
    ['a stop', ({ informer }) => informer.stop()],
  ])('I65: causes no warning after %s', async (_name, act) => {
    const all = rig();
    addEventHandler(all.informer, {});
    await all.time.advance(9_999);
    act(all);
    await all.time.advance(60_000);
    expect(all.warnings).toEqual([]);
    await all.informer.stop();
    expect(all.time.pending).toBe(0);
  });

  it('I65: causes no warning once the last handler was removed', async () => {
    const { time, informer, warnings } = rig();
    const handlers = [addEventHandler(informer, {}), addEventHandler(informer, {})];
    for (const handler of handlers) {
      expect(time.pending).toBe(1);
      void handler.remove();
    }
    expect(time.pending).toBe(0);
    void addEventHandler(informer, {}).remove();
    await time.advance(60_000);
    expect([warnings, time.pending]).toEqual([[], 0]);
  });

  it('I65: causes no warning if the handler was added while the informer runs or is stopped', async () => {
    const { time, informer, warnings } = rig();
    informer.start();
    addEventHandler(informer, {});
    await time.advance(60_000);
    await informer.stop();
    addEventHandler(informer, {});
    await time.advance(60_000);
    expect([warnings, time.pending]).toEqual([[], 0]);
  });

  it('I65: causes a warning again after the informer ran and went idle', async () => {
    const { time, informer, warnings } = rig({ lingerMs: 0 });
    addEventHandler(informer, {});
    await time.advance(10_000);
    informer.changes$.subscribe().unsubscribe();
    await time.advance(60_000);
    expect(warnings).toHaveLength(1);
    addEventHandler(informer, {});
    await time.advance(10_000);
    expect(warnings).toHaveLength(2);
  });

  it('I65: the timer keeps no Node process running', async () => {
    const code = `
      import { addEventHandler, createSharedInformer } from 'rx-informer';
      const fail = () => { throw new Error('not requested') };
      addEventHandler(createSharedInformer({ list: fail, watch: fail }), {});
      process.on('exit', () => console.log('ended'));
    `;
    const options = ['--conditions=rx-informer-source', '--disable-warning=ExperimentalWarning'];
    const script = [...options, '--input-type=module', '-e', code];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, script);
    // A process that the timer kept running would have printed its warning.
    expect([stdout, stderr]).toEqual(['ended\n', '']);
  });

  it('I65: the warning is printed on the console if there is no onWarning', async () => {
    vi.useFakeTimers();
    const printed = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    onTestFinished(() => {
      vi.useRealTimers();
      printed.mockRestore();
    });
    addEventHandler(createSharedInformer(scriptedListWatch()), {});
    await vi.advanceTimersByTimeAsync(10_000);
    expect(printed.mock.calls).toEqual([
      [expect.stringMatching(/^informer: handler 1 was added 10 s ago and is not called/)],
    ]);
  });
});
