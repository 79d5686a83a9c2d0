/** The path from changes to reconciles, in virtual time. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  type ControllerOptions,
  type ControllerOutcome,
  createController,
  createSharedInformer,
  metered,
  type OwnerReference,
  type SharedInformer,
  TerminalError,
  traced,
  workQueue,
} from 'rx-informer';
import { config, from, Subject } from 'rxjs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { allReported } from '../support/errors.ts';
import { eventually } from '../support/patience.ts';
import {
  added,
  bookmark,
  deleted,
  modified,
  type Pod,
  pod,
  scriptedInformer,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';

interface Rig {
  readonly scheduler: VirtualTime;
  readonly source: ReturnType<typeof scriptedListWatch>;
  readonly informer: SharedInformer<Pod>;
  /** The reconciled keys with their reasons: `key reasons`. */
  readonly calls: string[];
  readonly outcomes: ControllerOutcome[];
  readonly reports: string[];
}

function rig(name = 'webs'): Rig & {
  control(options?: Partial<ControllerOptions<Pod>>): ReturnType<typeof createController>;
} {
  const scheduler = new VirtualTime();
  const { source, informer } = scriptedInformer({ name, scheduler });
  const calls: string[] = [];
  const outcomes: ControllerOutcome[] = [];
  const reports: string[] = [];
  return {
    scheduler,
    source,
    informer,
    calls,
    outcomes,
    reports,
    control(options = {}) {
      const controller = createController<Pod>({
        name: 'test',
        for: informer,
        scheduler,
        reconcile: (key, { reasons }) => {
          calls.push(`${key} ${reasons.join('+')}`);
        },
        onUnhandledError: (error, { where, key }) =>
          reports.push(`${where} ${key ?? '-'}: ${(error as Error).message}`),
        ...options,
      });
      controller.outcomes$.subscribe((outcome) => outcomes.push(outcome));
      return controller;
    },
  };
}

const owned = (child: Pod, owner: Pod): Pod => {
  const { name, uid } = owner.metadata;
  const reference: OwnerReference = { apiVersion: 'v1', kind: 'Web', name, uid, controller: true };
  return { metadata: { ...child.metadata, ownerReferences: [reference] } as Pod['metadata'] };
};

describe('a controller', () => {
  it('N1: begins when every cache is complete, and names the missing sources with the cause', async () => {
    const { scheduler, source, calls, control } = rig();
    const children = scriptedListWatch();
    const kids = createSharedInformer(children, { name: 'kids', scheduler });
    const controller = control({ owns: [kids] });
    const ready: boolean[] = [];
    controller.ready$.subscribe((value) => ready.push(value));
    controller.start();
    source.listed(1, pod('web', 1));
    const late = controller.whenReady({ timeoutMs: 1_000 }).catch((error: Error) => error.message);
    await scheduler.advance(1_000);
    expect(calls).toEqual([]);
    expect(await late).toBe('test was not ready within 1000 ms: not synced: owns: kids (listing)');
    expect(controller.status).toMatchObject({ phase: 'syncing', waitingFor: ['owns: kids'] });
    const inTime = controller.whenReady();
    children.listed(2, owned(pod('kid', 2), pod('web', 1)));
    await inTime;
    expect(calls).toEqual(['shop/web for:added+owns:added']);
    expect(ready).toEqual([false, true]);
    await Promise.all([controller.stop(), scheduler.advance(0)]);
    await kids.stop();
  });

  it('N2: queues keys, not objects: many changes are one reconcile of the current state', async () => {
    const { scheduler, source, control } = rig();
    const seen: unknown[] = [];
    let release = () => {};
    const controller = control({
      reconcile: (_key, { object, reasons, attempt, name }) => {
        seen.push([name.name, object?.metadata.resourceVersion, reasons.join('+'), attempt]);
        return new Promise<void>((resolve) => {
          release = resolve;
        });
      },
    });
    source.listed(1, pod('web', 1));
    controller.start();
    source.send(modified(pod('web', 2)), modified(pod('web', 3)));
    source.send(deleted(pod('web', 4)), added(pod('web', 5, 'other')));
    release();
    await scheduler.advance(0);
    source.send(deleted(pod('web', 6, 'other')));
    release();
    await scheduler.advance(0);
    release();
    await scheduler.advance(0);
    expect(seen).toEqual([
      ['web', '1', 'for:added', 1],
      ['web', '5', 'for:updated+for:deleted+for:added', 1],
      ['web', undefined, 'for:deleted', 1],
    ]);
    await controller.stop();
  });

  it('N2: keys from the initial list and from resyncs wait behind later changes', async () => {
    const { scheduler, source, calls, control } = rig();
    const informer = createSharedInformer(source, { scheduler, resyncPeriodMs: 60_000 });
    const busy: (() => void)[] = [];
    const controller = control({
      for: informer,
      reconcile: (key, { reasons }) => {
        calls.push(`${key} ${reasons.join('+')}`);
        return new Promise<void>((resolve) => busy.push(resolve));
      },
    });
    source.listed(1, pod('a', 1), pod('b', 1), pod('c', 1));
    controller.start();
    source.send(added(pod('new', 2)));
    const next = async () => {
      busy.shift()?.();
      await scheduler.advance(0);
    };
    for (let count = 0; count < 4; count++) await next();
    expect(calls.map((call) => call.split(' ')[0])).toEqual([
      ...['shop/a', 'shop/new', 'shop/b', 'shop/c'],
    ]);
    calls.length = 0;
    await scheduler.advance(30_000);
    source.send(bookmark(3));
    await scheduler.advance(30_000);
    source.send(modified(pod('new', 4)));
    for (let count = 0; count < 4; count++) await next();
    expect(calls).toEqual([
      'shop/a for:resync',
      'shop/new for:resync+for:updated',
      'shop/b for:resync',
      'shop/c for:resync',
    ]);
    await controller.stop();
    await informer.stop();
  });

  it('N4: an owned object that moves queues its owner before and its owner after the change', async () => {
    const { scheduler, source, calls, control } = rig();
    const children = scriptedListWatch();
    const kids = createSharedInformer(children, { scheduler });
    const controller = control({ owns: [kids] });
    source.listed(1, pod('web', 1), pod('api', 1));
    children.listed(2, owned(pod('kid', 2), pod('web', 1)));
    controller.start();
    calls.length = 0;
    children.send(modified(owned(pod('kid', 3), pod('api', 1))));
    expect(calls).toEqual(['shop/web owns:updated', 'shop/api owns:updated']);
    calls.length = 0;
    children.send(deleted(owned(pod('kid', 4), pod('api', 1))));
    expect(calls).toEqual(['shop/api owns:deleted']);
    await controller.stop();
    await kids.stop();
    await scheduler.advance(0);
  });

  it('N5: a mapping receives both states; an error is reported, and a change that no predicate judged passes', async () => {
    const { source, informer, calls, reports, control } = rig();
    const controller = control({
      predicates: [
        ({ key }) => {
          if (key === 'shop/bad') throw new Error('no judgement');
          return key !== 'shop/dull';
        },
      ],
      watches: [
        {
          informer,
          map: ({ key, type, previous, object }) => {
            if (key === 'shop/bad') throw new Error('no mapping');
            const versions = [previous, object].map((each) => each?.metadata?.resourceVersion);
            return type === 'updated' ? versions.map((version) => `shop/v${version}`) : [];
          },
        },
      ],
      sources: [],
    });
    source.listed(1, pod('dull', 1), pod('bad', 1));
    controller.start();
    source.send(modified(pod('dull', 2)));
    expect(calls).toEqual([
      'shop/bad for:added',
      'shop/v1 watches:updated',
      'shop/v2 watches:updated',
    ]);
    expect(reports).toEqual([
      'for: webs shop/bad: no judgement',
      'watches: webs shop/bad: no mapping',
    ]);
    await controller.stop();
  });

  it('N5: keys come from any stream; an error of a stream is reported and makes it unhealthy, completion does not', async () => {
    const { source, calls, reports, control } = rig();
    const clock$ = new Subject<string>();
    const hook$ = new Subject<string>();
    const controller = control({ sources: [clock$, hook$] });
    const healthy: boolean[] = [];
    controller.healthy$.subscribe((value) => healthy.push(value));
    source.listed(1);
    controller.start();
    clock$.next('shop/x');
    clock$.complete();
    hook$.error(new Error('hung up'));
    expect(calls).toEqual(['shop/x source']);
    expect(reports).toEqual(['sources[1] -: hung up']);
    expect(healthy).toEqual([true, false]);
    expect(controller.status.ended).toEqual(['sources[1]']);
    await controller.stop();
    expect([clock$.observed, hook$.observed]).toEqual([false, false]);
  });

  it('K19: a reconcile that throws is an outcome and is retried; a terminal error and an invalid key are not', async () => {
    const { scheduler, source, outcomes, control } = rig();
    const keys$ = new Subject<string>();
    const controller = control({
      sources: [keys$],
      maxRetries: 1,
      reconcile: (key, { attempt, reasons }) => {
        if (key === 'shop/once' && attempt === 1) throw new Error(`first, ${reasons.join()}`);
        if (key === 'shop/never') throw new Error(`again, ${reasons.join()}`);
        if (key === 'shop/later' && reasons.includes('source')) return { requeueAfterMs: 1_000 };
        return undefined;
      },
    });
    source.listed(1);
    controller.start();
    for (const key of ['shop/once', 'shop/never', 'shop/later', 'a/b/c']) keys$.next(key);
    await scheduler.advance(2_000);
    const emitted = outcomes.map(({ key, type, reasons }) => `${key} ${type} ${reasons.join()}`);
    expect(emitted).toEqual([
      'shop/once failed source',
      'shop/never failed source',
      'shop/later requeued source',
      'a/b/c gaveUp source',
      'shop/once ok retry',
      'shop/never gaveUp retry',
      'shop/later ok requeue',
    ]);
    await controller.stop();
  });
});

describe('what a program gives to a controller to observe it', () => {
  it('K13, N33: the errors of a metrics provider and of a tracer go to onUnhandledError, and the process goes on', async () => {
    const { scheduler, source, reports, calls, control } = rig();
    const uncaught: unknown[] = [];
    config.onUnhandledError = (error) => uncaught.push(error);
    onTestFinished(() => {
      config.onUnhandledError = null;
    });
    const fail = () => {
      throw new Error('the backend is shutting down');
    };
    const instrument = () => ({ add: fail, record: fail, addCallback: fail, removeCallback: fail });
    const metrics = {
      createCounter: instrument,
      createUpDownCounter: instrument,
      createHistogram: instrument,
      createObservableGauge: () => ({ addCallback() {}, removeCallback: fail }),
    };
    const span = { setAttributes: fail, setStatus: fail, recordException: fail, end: fail };
    const tracer = {
      startActiveSpan: <R>(_name: string, _options: object, act: (given: typeof span) => R) =>
        act(span),
    };
    const controller = control({
      metrics: metered(metrics),
      reconcile: traced(tracer, async (key) => {
        calls.push(key);
        throw new TerminalError('no');
      }),
    });
    source.listed(1, pod('a', 1));
    controller.start();
    await scheduler.advance(1_000);
    await controller.stop();
    await allReported();
    expect([calls, uncaught]).toEqual([['shop/a'], []]);
    expect(new Set(reports)).toEqual(
      new Set([
        'metrics -: the backend is shutting down',
        'traced shop/a: the backend is shutting down',
      ]),
    );
    expect(reports.filter((report) => report.startsWith('traced'))).toHaveLength(4);
  });

  it('K13: the errors of the metrics of an informer go to its onUnhandledError', async () => {
    const uncaught: unknown[] = [];
    config.onUnhandledError = (error) => uncaught.push(error);
    onTestFinished(() => {
      config.onUnhandledError = null;
    });
    const fail = () => {
      throw new Error('the backend is shutting down');
    };
    const instrument = () => ({ add: fail, record: fail, addCallback: fail, removeCallback: fail });
    const reported: string[] = [];
    const { source, informer } = scriptedInformer({
      scheduler: new VirtualTime(),
      metrics: metered({
        createCounter: instrument,
        createUpDownCounter: instrument,
        createHistogram: instrument,
        createObservableGauge: instrument,
      }),
      onUnhandledError: (error, { subscriber }) =>
        reported.push(`${subscriber}: ${(error as Error).message}`),
    });
    source.listed(1, pod('a', 1));
    informer.start();
    await informer.stop();
    await allReported();
    expect([new Set(reported), uncaught]).toEqual([
      new Set(['metrics: the backend is shutting down']),
      [],
    ]);
  });
});

describe('a large initial list', () => {
  it('N2: 30,000 objects are processed, by reconciles that return synchronously and by some that do not', async () => {
    const { scheduler, source, outcomes, control } = rig();
    const most: number[] = [];
    let running = 0;
    const controller = control({
      concurrency: 3,
      reconcile: (key) => {
        if (!key.endsWith('7')) return undefined;
        running++;
        most.push(running);
        return Promise.resolve().then(() => {
          running--;
        });
      },
    });
    source.listed(1, ...Array.from({ length: 30_000 }, (_, at) => pod(`web-${at}`, 1)));
    controller.start();
    await scheduler.advance(0);
    await eventually(() => expect(outcomes.length).toBe(30_000));
    expect(Math.max(...most)).toBe(3);
    expect(new Set(outcomes.map(({ type }) => type))).toEqual(new Set(['ok']));
    await controller.stop();
  });
});

describe('stopping a controller', () => {
  function busyRig() {
    const all = rig();
    const running: { key: string; signal: AbortSignal; done: () => void }[] = [];
    const controller = all.control({
      concurrency: 2,
      reconcile: (key, { signal }) =>
        new Promise<void>((done) => running.push({ key, signal, done })),
    });
    all.source.listed(1, pod('a', 1), pod('b', 1), pod('c', 1));
    controller.start();
    return { ...all, running, controller };
  }

  it('N8: aborts the signals after the grace period; a reconcile that does not react is reported and no longer waited for', async () => {
    const { scheduler, running, controller, outcomes, reports } = busyRig();
    const [first, second] = running;
    first?.signal.addEventListener('abort', () => first.done());
    const stop = controller.stop({ drainMs: 5_000 });
    await scheduler.advance(4_999);
    expect(first?.signal.aborted).toBe(false);
    await scheduler.advance(1);
    expect([first?.signal.aborted, second?.signal.aborted]).toEqual([true, true]);
    await scheduler.advance(5_000);
    await stop;
    expect(outcomes.map(({ key }) => key)).toEqual(['shop/a']);
    expect(reports).toEqual([expect.stringMatching(/^stop shop\/b: .*abandoned$/)]);
    // The next stop has nothing to wait for, and the next start waits, because no key may be reconciled twice at a time.
    await controller.stop();
    controller.start();
    expect([controller.status.phase, controller.working]).toEqual(['standby', ['shop/b']]);
    const late = expect(controller.whenReady({ timeoutMs: 10 })).rejects.toThrow(
      'test was not ready within 10 ms: earlier reconciles still run: shop/b',
    );
    await scheduler.advance(10);
    await late;
    await controller.stop();
    controller.start();
    expect(running).toHaveLength(2);
    second?.done();
    await controller.whenReady();
    expect(running).toHaveLength(4);
    expect(reports).toHaveLength(1);
  });

  it('N8: leaves no timer and no subscription, and streams complete; then the controller can be started again', async () => {
    const { scheduler, source, informer, calls, control } = rig();
    const controller = control({
      reconcile: (key, { reasons }) => {
        calls.push(`${key} ${reasons.join('+')}`);
        throw new Error('always');
      },
    });
    let completed = 0;
    const complete = () => completed++;
    controller.outcomes$.subscribe({ complete });
    controller.status$.subscribe({ complete });
    controller.ready$.subscribe({ complete });
    source.listed(1, pod('web', 1));
    controller.start();
    controller.start();
    await controller.stop();
    await controller.stop();
    expect(completed).toBe(3);
    controller.start();
    expect(calls).toEqual(['shop/web for:added', 'shop/web for:added']);
    await controller.whenReady();
    await controller.stop();
    await informer.stop();
    expect(scheduler.pending).toBe(0);
  });

  it('only a reconcile that reads its signal makes an AbortController', async () => {
    const { scheduler, source, control } = rig();
    let made = 0;
    const { AbortController: real } = globalThis;
    vi.stubGlobal(
      'AbortController',
      class extends real {
        constructor() {
          super();
          made += 1;
        }
      },
    );
    onTestFinished(() => void vi.unstubAllGlobals());
    const counts: [key: string, made: number][] = [];
    const reconcile = (key: string, context: { readonly signal: AbortSignal }) => {
      const before = made;
      if (key.endsWith('b')) expect(context.signal).toBe(context.signal);
      counts.push([key, made - before]);
    };
    const controller = control({ reconcile });
    source.listed(1, pod('a', 1), pod('b', 1));
    made = 0;
    controller.start();
    from(['shop/a', 'shop/b']).pipe(workQueue(reconcile, { scheduler })).subscribe();
    const once = [
      ['shop/a', 0],
      ['shop/b', 1],
    ];
    expect([counts, made]).toEqual([[...once, ...once], 2]);
    await controller.stop();
  });

  it('N8: leaves no resource that keeps a process alive', async () => {
    const script = fileURLToPath(new URL('./leaves-nothing.ts', import.meta.url));
    const flags = ['--conditions=rx-informer-source', '--disable-warning=ExperimentalWarning'];
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, script]);
    // The pipe of its own standard output is the only remaining resource.
    const { left, ...rest } = JSON.parse(stdout);
    expect(left.filter((name: string) => name !== 'PipeWrap')).toEqual([]);
    expect(rest).toEqual({ watches: 0, holder: '', reconciled: true });
  });

  it('N9: an informer that its owner stops makes the controller unhealthy', async () => {
    const { source, informer, control } = rig();
    const controller = control();
    source.listed(1);
    controller.start();
    const healthy: boolean[] = [];
    controller.healthy$.subscribe((value) => healthy.push(value));
    await informer.stop();
    expect(healthy).toEqual([true, false]);
    expect(controller.status.ended).toEqual(['for: webs']);
    await controller.stop();
  });
});
