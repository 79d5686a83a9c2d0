/** Orders of calls that a controller must survive: overlapping stops and starts, and runs that end while others begin. */
import {
  type ControllerOptions,
  type ControllerOutcome,
  createController,
  createLeaderElector,
  createSharedInformer,
  type GaugeCallback,
  type LeaderElector,
  type MetricsProvider,
  metered,
  type ReconcileResult,
} from 'rx-informer';
import { BehaviorSubject, Observable, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import {
  modified,
  type Pod,
  pod,
  scriptedInformer,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';
import { leaseServer } from './lease-server.ts';

function rig(...names: string[]) {
  const scheduler = new VirtualTime();
  const { source, informer } = scriptedInformer({ name: 'webs', scheduler });
  source.listed(1, ...names.map((name) => pod(name, 1)));
  const calls: string[] = [];
  const reports: string[] = [];
  const control = (options: Partial<ControllerOptions<Pod>> = {}) =>
    createController<Pod>({
      name: 'test',
      for: informer,
      scheduler,
      reconcile: (key) => void calls.push(key),
      onUnhandledError: (error, { where, key }) =>
        reports.push(`${where} ${key ?? '-'}: ${(error as Error).message}`),
      ...options,
    });
  return { scheduler, source, informer, calls, reports, control };
}

/** The part of an elector that a controller uses, for an elector that the controller does not own. */
function foreign(leads: boolean) {
  const leading$ = new BehaviorSubject(leads);
  return { leading$, leaderElection: { leading$ } as unknown as LeaderElector };
}

describe('a controller that is stopped and started', () => {
  it('N21: whenReady is rejected by the stop that follows it, not by an earlier one', async () => {
    const { scheduler, control } = rig('a');
    const controller = control({ reconcile: () => new Observable<ReconcileResult>() });
    controller.start();
    const refused = async (wait: Promise<void>) =>
      await wait.then(
        () => 'ready',
        (error: Error) => error.message,
      );
    const stopped = controller.stop({ drainMs: 0 });
    const during = refused(controller.whenReady());
    await Promise.all([stopped, scheduler.advance(1)]);
    expect(await during).toBe('test was stopped');
    const before = control({ sources: [], owns: [createSharedInformer(scriptedListWatch())] });
    before.start();
    const first = refused(before.whenReady());
    void before.stop();
    before.start();
    const second = refused(before.whenReady());
    expect(await first).toBe('test was stopped');
    await before.stop();
    expect(await second).toBe('test was stopped');
  });

  it('N24: follows an elector that was passed in through its stops and starts', async () => {
    const { scheduler, calls, control } = rig('a');
    const server = leaseServer(scheduler);
    const leaderElection = createLeaderElector({
      ...{
        client: server.client('me'),
        namespace: 'shop',
        name: 'test',
        identity: 'me',
        scheduler,
      },
    });
    const controller = control({ leaderElection });
    controller.start();
    leaderElection.start();
    await scheduler.advance(1_000);
    expect(calls).toEqual(['shop/a']);
    const stopped = leaderElection.stop();
    leaderElection.start();
    await stopped;
    await scheduler.advance(1_000);
    expect([calls, controller.status.phase]).toEqual([['shop/a', 'shop/a'], 'running']);
    await controller.stop();
    await leaderElection.stop();
    // A leading$ that completes during the subscription is not subscribed again.
    const { leaderElection: leads, leading$ } = foreign(true);
    leading$.complete();
    const simple = control({ leaderElection: leads });
    simple.start();
    await simple.stop();
  });
});

describe('a reconcile that ends', () => {
  it('N8: is not confused with the next run of its key, which a stop aborts and waits for', async () => {
    const { scheduler, source, control } = rig('a', 'b');
    const runs: {
      key: string;
      end: Subject<ReconcileResult>;
      signal: AbortSignal;
      over: boolean;
    }[] = [];
    const controller = control({
      concurrency: 2,
      reconcile: (key, { signal }) => {
        const run = { key, end: new Subject<ReconcileResult>(), signal, over: false };
        runs.push(run);
        return new Promise<void>((resolve) => {
          run.end.subscribe({
            complete: () => {
              run.over = true;
              resolve();
            },
          });
        });
      },
    });
    const outcomes: string[] = [];
    controller.outcomes$.subscribe(({ key }) => outcomes.push(key));
    controller.start();
    expect(runs.map(({ key }) => key)).toEqual(['shop/a', 'shop/b']);
    source.send(modified(pod('a', 2)));
    runs[0]?.end.complete();
    await scheduler.advance(0);
    expect([outcomes, controller.working]).toEqual([['shop/a'], ['shop/b', 'shop/a']]);
    let stopped = false;
    const stop = controller.stop({ drainMs: 1_000 }).then(() => {
      stopped = true;
    });
    runs[1]?.end.complete();
    await scheduler.advance(999);
    expect(stopped).toBe(false);
    await scheduler.advance(1);
    expect(runs[2]?.signal.aborted).toBe(true);
    runs[2]?.end.complete();
    await stop;
  });

  it('N8: a run whose outcome waits to be emitted does not affect the next run of its key', async () => {
    const { scheduler, control } = rig('a', 'b');
    const keys$ = new Subject<string>();
    const runs = new Map<string, Subject<ReconcileResult>[]>([
      ['shop/a', []],
      ['shop/b', []],
    ]);
    const signals: AbortSignal[] = [];
    const controller = control({
      concurrency: 2,
      sources: [keys$],
      reconcile: (key, { signal }) => {
        const end = new Subject<ReconcileResult>();
        runs.get(key)?.push(end);
        if (key === 'shop/a') signals.push(signal);
        return end;
      },
    });
    const emitted: string[] = [];
    controller.outcomes$.subscribe((outcome: ControllerOutcome) => {
      emitted.push(`${outcome.key} ${outcome.reasons.join()}`);
      if (outcome.key !== 'shop/b') return;
      // While this outcome is emitted, the first run of a ends and its second begins, so the outcome of the first waits.
      keys$.next('shop/a');
      runs.get('shop/a')?.[0]?.complete();
    });
    controller.start();
    runs.get('shop/b')?.[0]?.complete();
    expect(runs.get('shop/a')).toHaveLength(2);
    expect(emitted).toEqual(['shop/b for:added', 'shop/a for:added']);
    expect(controller.working).toEqual(['shop/a']);
    let stopped = false;
    const stop = controller.stop({ drainMs: 1_000 }).then(() => {
      stopped = true;
    });
    await scheduler.advance(999);
    expect([stopped, signals.at(-1)?.aborted]).toEqual([false, false]);
    await scheduler.advance(1);
    expect(signals.at(-1)?.aborted).toBe(true);
    runs.get('shop/a')?.[1]?.complete();
    await stop;
    expect(emitted.slice(2)).toEqual(['shop/a source']);
  });

  it.each([
    ['synchronously', () => undefined],
    [
      'with an error',
      () => {
        throw new Error('boom');
      },
    ],
    [
      'as an Observable',
      () => new Observable<ReconcileResult>((subscriber) => subscriber.complete()),
    ],
  ])(
    'N19: a run that ends %s, and in which the lead was lost, lets the next term begin',
    async (_how, answer) => {
      const { scheduler, control, calls } = rig('a', 'b');
      const { leading$, leaderElection } = foreign(true);
      const keys$ = new Subject<string>();
      const controller = control({
        leaderElection,
        sources: [keys$],
        reconcile: (key) => {
          calls.push(key);
          if (key === 'shop/last') leading$.next(false);
          return key === 'shop/last' ? answer() : undefined;
        },
      });
      controller.start();
      keys$.next('shop/last');
      await scheduler.advance(0);
      expect([controller.status.phase, controller.working]).toEqual(['standby', []]);
      leading$.next(true);
      await scheduler.advance(0);
      expect(calls).toEqual(['shop/a', 'shop/b', 'shop/last', 'shop/a', 'shop/b']);
      await controller.stop();
    },
  );

  it('N2: a thenable that a reconcile returns has its `then` called once', async () => {
    const { scheduler, control } = rig('a');
    let asked = 0;
    const lazy = {
      // Like the query builders of databases: each call of `then` sends the query.
      // biome-ignore lint/suspicious/noThenProperty: the test needs one
      then: (resolve: (value: undefined) => void) => {
        asked++;
        resolve(undefined);
      },
    } as unknown as Promise<undefined>;
    const controller = control({ reconcile: () => lazy });
    controller.start();
    await scheduler.advance(0);
    expect([asked, controller.working]).toEqual([1, []]);
    await controller.stop();
  });
});

describe('a term that ends', () => {
  it('K13, N19: releases its gauges, and no longer counts the keys that it dropped', async () => {
    const gauges = new Set<GaugeCallback>();
    let depth = 0;
    const nothing = { add: () => undefined, record: () => undefined };
    const metrics: MetricsProvider = {
      createCounter: () => nothing,
      createHistogram: () => nothing,
      createUpDownCounter: () => ({ add: (value) => (depth += value) }),
      createObservableGauge: () => ({
        addCallback: (callback) => gauges.add(callback),
        removeCallback: (callback) => gauges.delete(callback),
      }),
    };
    const { scheduler, control } = rig(...Array.from({ length: 10 }, (_, at) => `p${at}`));
    const { leading$, leaderElection } = foreign(false);
    const controller = control({
      metrics: metered(metrics),
      leaderElection,
      reconcile: (_key, { signal }) =>
        new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
    });
    controller.start();
    for (let term = 0; term < 5; term++) {
      leading$.next(true);
      await scheduler.advance(0);
      // Four are the controller's.
      expect([depth, gauges.size]).toEqual([9, 4 + 2]);
      leading$.next(false);
      await scheduler.advance(0);
      expect([depth, gauges.size]).toEqual([0, 4]);
    }
    await controller.stop();
    expect(gauges.size).toBe(0);
  });
});

describe('an invalid key', () => {
  it.each([[''], [undefined], [{ token: 's3cret' }], [5n]])(
    'N9: an invalid key from a stream, %o, is reported, and the keys after it are reconciled',
    async (key) => {
      const keys$ = new Subject<string>();
      const { calls, reports, control } = rig();
      const controller = control({ sources: [keys$] });
      controller.start();
      keys$.next('shop/a');
      keys$.next(key as string);
      keys$.next('shop/b');
      expect(calls).toEqual(['shop/a', 'shop/b']);
      expect(reports).toEqual([expect.stringMatching(/^sources\[0\] -: .*is not a key/)]);
      expect(reports.join()).not.toContain('s3cret');
      expect(controller.status.ended).toEqual([]);
      await controller.stop();
    },
  );

  it('N9: an invalid key from a mapping does not affect the keys beside it', async () => {
    const { informer, calls, reports, control } = rig('web');
    const controller = control({
      watches: [
        { informer, map: () => ['shop/x', '', 'shop/y', undefined as unknown as string, 'shop/z'] },
        // A string is iterable by its characters.
        { informer, map: () => 'shop/text' },
        { informer, map: () => undefined as unknown as string[] },
      ],
    });
    controller.start();
    expect(calls.sort()).toEqual(['shop/web', 'shop/x', 'shop/y', 'shop/z']);
    expect(reports).toEqual([
      expect.stringContaining("'' is not a key"),
      expect.stringContaining('undefined is not a key'),
      expect.stringContaining('a list of keys'),
      expect.stringContaining('a list of keys'),
    ]);
    expect(reports.every((report) => report.startsWith('watches: webs shop/web: '))).toBe(true);
    await controller.stop();
  });
});

describe('a predicate that returns a Promise', () => {
  it('N5: a predicate that returns a Promise passes the change, and the mistake is reported', async () => {
    const { calls, reports, control } = rig('a');
    const predicate = (async () => {
      throw new Error('later');
    }) as unknown as () => boolean;
    const controller = control({ predicates: [predicate] });
    controller.start();
    expect(calls).toEqual(['shop/a']);
    expect(reports).toEqual([
      expect.stringMatching(/^for: webs shop\/a: a predicate or condition returned a Promise/),
    ]);
    await controller.stop();
  });
});
