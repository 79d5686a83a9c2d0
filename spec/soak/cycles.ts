/** The phase `cycles`: 10,000 subscriptions of each kind and 1,000 starts and stops must leave nothing behind. */
import {
  addEventHandler,
  createClient,
  createInformerFactory,
  createListWatch,
  createSharedInformer,
  deliver,
  type MetricsProvider,
  metered,
  metricsOf,
  toView,
} from 'rx-informer';
import { createFakeApiServer } from 'rx-informer/testing';
import { NEVER, type Observable } from 'rxjs';
import { differentialOverUndici } from '../support/decodings.ts';
import { brief, countOf, handles, heapMb, mb, type PhaseResult, thousands } from './measure.ts';
import { pods } from './scene.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));
/**
 * The allowed growth of the heap: more than a leak of 16 bytes per cycle, less than a leak of one closure per cycle.
 */
const SLACK_MB = 1;

/** A metrics provider that keeps the registered callbacks. */
function countingMetrics(): {
  readonly metrics: MetricsProvider;
  readonly callbacks: Set<unknown>;
} {
  const callbacks = new Set<unknown>();
  const instrument = { add: () => {}, record: () => {} };
  return {
    callbacks,
    metrics: {
      createCounter: () => instrument,
      createUpDownCounter: () => instrument,
      createHistogram: () => instrument,
      createObservableGauge: () => ({
        addCallback: (callback) => void callbacks.add(callback),
        removeCallback: (callback) => void callbacks.delete(callback),
      }),
    } as MetricsProvider,
  };
}

export async function cyclesPhase(subscriptions: number, lives: number): Promise<PhaseResult> {
  const wrong: string[] = [];
  const figures: [string, string][] = [];
  const server = createFakeApiServer({ resources: [pods], historyLimit: 100, requestsKept: 10 });
  for (let at = 0; at < 100; at++) {
    server.objects.create(pods, { metadata: { namespace: 'a', name: `pod-${at}` } });
  }
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  const { metrics, callbacks } = countingMetrics();
  const before = countOf(handles());
  /** Runs a tenth of the cycles as a warm-up, then all, and reports the heap after both. */
  const measured = async (what: string, times: number, once: () => unknown) => {
    const round = async (count: number) => {
      for (let at = 0; at < count; at++) {
        await once();
        if (at % 100 === 0) await turn();
      }
      await turn();
      return heapMb();
    };
    const early = await round(Math.ceil(times / 10));
    const late = await round(times);
    figures.push([`${thousands(times)} × ${what}`, `${mb(early)} → ${mb(late)}`]);
    if (late > early + SLACK_MB) wrong.push(`${what}: the heap grew by ${mb(late - early)}`);
  };

  const informer = createSharedInformer(
    createListWatch(client, pods, { decoding: differentialOverUndici }),
    {
      resyncPeriodMs: 1_000,
      metrics: metered(metrics),
    },
  );
  informer.start();
  await informer.whenSynced({ timeoutMs: 10_000 });
  const steady = countOf(handles());
  const data = ['changes$', 'added$', 'updated$', 'deleted$', 'snapshot$'] as const;
  const streams = [...data, 'status$', 'synced$', 'metrics$'] as const;
  await measured('subscribe and unsubscribe, each stream', subscriptions, () => {
    const all = { ...informer, ...metricsOf(informer) };
    for (const name of streams) (all[name] as Observable<unknown>).subscribe().unsubscribe();
  });
  await measured('deliver with a policy that is never ready', subscriptions, () => {
    for (const kind of ['conflate', 'drop'] as const) {
      deliver(informer, { kind, limit: 1, ready: () => NEVER })
        .changes$.subscribe()
        .unsubscribe();
    }
  });
  await measured('a view: subscribe, items$, a row, a loop', subscriptions, async () => {
    const view = informer.changes$.pipe(toView());
    const leave = view.subscribe(() => {});
    view.items$.subscribe().unsubscribe();
    view.select('x').subscribe(() => {})();
    leave();
    for await (const _rows of view) break;
  });
  await measured('a handler, added and removed', subscriptions, () => {
    const onAdd = () => new Promise<void>(() => {});
    const registration = addEventHandler(informer, { onAdd }, { resyncPeriodMs: 5_000 });
    registration.whenSynced().catch(() => {});
    registration.remove();
  });
  await measured('waits that resolve, and waits that time out', subscriptions, async () => {
    const { resourceVersion } = server.objects;
    await informer.whenAtLeast(resourceVersion, { timeoutMs: 60_000 });
    await informer.whenObserved('a/pod-0', '99999999', { timeoutMs: 1 }).catch(() => {});
  });
  if (countOf(handles()) > steady) wrong.push(`more handles than before: ${brief(handles())}`);

  await measured('start and stop, with all kinds of consumers', lives, async () => {
    informer.changes$.subscribe();
    informer.status$.subscribe();
    deliver(informer, { kind: 'conflate', ready: () => NEVER }).changes$.subscribe();
    const leave = informer.changes$.pipe(toView()).subscribe(() => {});
    const registration = addEventHandler(informer, {}, { resyncPeriodMs: 1_000 });
    informer.start();
    await informer.whenSynced({ timeoutMs: 10_000 });
    if (Math.random() < 0.3) server.faults.dropWatches();
    await informer.stop();
    // A view follows its informer to the next start.
    leave();
    registration.remove();
  });
  await measured('a handle of a factory, acquired and released', lives, async () => {
    const factory = createInformerFactory(client, {
      name: 'held',
      lingerMs: 0,
      metrics: metered(metrics),
    });
    factory.start();
    const { informer: held, release } = factory.acquire(pods, { namespace: 'a' });
    await held.whenSynced({ timeoutMs: 10_000 });
    release();
    await factory.stop();
  });
  await informer.stop();
  await turn();
  if (callbacks.size > 0) wrong.push(`${callbacks.size} callbacks of metrics are left`);
  if (server.openWatches.length > 0) wrong.push(`${server.openWatches.length} watches are open`);
  const left = handles();
  if (countOf(left) > before) wrong.push(`left behind: ${brief(left)}`);
  figures.push(['handles before and after', `${before}, ${countOf(left)}`]);
  return { phase: 'subscriptions and restarts', figures, wrong };
}
