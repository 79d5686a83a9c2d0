/** The parts of an informer: what they receive, also if they join late, and what refuses another object. */
import {
  addEventHandler,
  type ClustersInformer,
  createInformer,
  createSharedInformer,
  deliver,
  type MetricsProvider,
  metered,
  metricsOf,
  type SharedInformer,
} from 'rx-informer';
import { Subject } from 'rxjs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { sharedInformerOf } from '../../lib/informer/create-shared-informer.ts';
import { InformerLifecycle } from '../../lib/informer/lifecycle.ts';
import { type InformerPart, portOf } from '../../lib/informer/part.ts';
import type { SourceSet } from '../../lib/informer/sources.ts';
import { added, type Pod, pod, scriptedListWatch } from '../support/scripted-list-watch.ts';

/** A part that writes down its calls. */
function recorder(): InformerPart<Pod> & { readonly log: string[] } {
  const log: string[] = [];
  return {
    log,
    begin: () => log.push('begin'),
    sources: (of) => log.push(`sources ${of.map(({ scope }) => scope ?? '*').join()}`),
    status: (at, { phase }) => log.push(`status ${at} ${phase}`),
    received: (at, deltas) => log.push(`received ${at} ${deltas.map(({ type }) => type).join()}`),
    committed: (deltas) => log.push(`committed ${deltas.map(({ type }) => type).join()}`),
    end: (why, { message }) => log.push(`end ${why}: ${message}`),
  };
}

function attached(informer: SharedInformer<Pod>) {
  return portOf<Pod>(informer, 'test').attach('recorder', recorder);
}

describe('the parts of an informer', () => {
  it('I81: a change of the sources reaches the parts, and a refresh waits for the new ones', async () => {
    const [all, shop] = [scriptedListWatch(), scriptedListWatch('shop')];
    const sources$ = new Subject<SourceSet<Pod>>();
    const informer = sharedInformerOf<Pod>(
      new InformerLifecycle({ listerWatchers: [all], sources$, caller: 'test' }, {}),
    );
    const { log } = attached(informer);
    informer.start();
    sources$.next({ listerWatchers: [all] });
    all.listed(1, pod('a', 1, 'a', 'bank'));
    let isDone = false;
    const refreshed = informer.refresh().then(() => (isDone = true));
    sources$.next({ listerWatchers: [shop] });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isDone).toBe(false);
    shop.listed(5, pod('b', 4));
    await refreshed;
    expect(informer.indexer.listKeys()).toEqual(['shop/b']);
    expect(log.filter((line) => line.startsWith('sources'))).toEqual(['sources *', 'sources shop']);
    await informer.stop();
  });

  it('I112: addEventHandler, deliver and metricsOf refuse an object that is not an informer, by name', () => {
    const calls: Record<string, (not: never) => unknown> = {
      addEventHandler: (not) => addEventHandler(not, {}),
      deliver: (not) => deliver(not, { kind: 'conflate' }),
      metricsOf: (not) => metricsOf(not),
    };
    for (const [name, call] of Object.entries(calls)) {
      for (const not of [undefined, null, {}, 'informer', scriptedListWatch()]) {
        expect(() => call(not as never)).toThrow(TypeError);
        expect(() => call(not as never)).toThrow(
          new RegExp(`^${name}: the first argument is .*; it must be an informer`),
        );
      }
    }
    type Of<Call extends (informer: never, ...rest: never[]) => unknown> = Parameters<Call>[0];
    expectTypeOf<ClustersInformer<Pod>>().not.toExtend<Of<typeof addEventHandler<Pod>>>();
    expectTypeOf<ClustersInformer<Pod>>().not.toExtend<Of<typeof deliver<Pod>>>();
    expectTypeOf<ClustersInformer<Pod>>().not.toExtend<Of<typeof metricsOf<Pod>>>();
    expectTypeOf<SharedInformer<Pod>>().toExtend<Of<typeof deliver<Pod>>>();
  });

  it('I27: metricsOf shows the meter of the option metrics, or measures from its first call', async () => {
    const source = scriptedListWatch();
    const late = createInformer(source, {});
    source.listed(1, pod('a', 1));
    late.start();
    const { metrics: before } = metricsOf(late);
    expect([before.objects, before.processingLatencySeconds.count]).toEqual([1, 0]);
    source.send(added(pod('b', 2)));
    expect(metricsOf(late).metrics).toMatchObject({
      objects: 2,
      processingLatencySeconds: { count: 1 },
    });
    await late.stop();

    const instrument = { add() {}, record() {}, addCallback() {}, removeCallback() {} };
    const provider: MetricsProvider = {
      createCounter: () => instrument,
      createUpDownCounter: () => instrument,
      createHistogram: () => instrument,
      createObservableGauge: () => instrument,
    };
    const other = scriptedListWatch();
    const measured = createSharedInformer(other, { metrics: metered(provider) });
    other.listed(1, pod('a', 1));
    measured.start();
    expect(metricsOf(measured).metrics.processingLatencySeconds.count).toBeGreaterThan(0);
    await measured.stop();
    for (const not of [undefined, null, {}, 'meter']) {
      expect(() => metered(not as never)).toThrow(
        /metered: the argument is .*; it must be a Meter of OpenTelemetry/,
      );
    }
  });
});
