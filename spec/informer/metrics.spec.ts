/** Metrics: the stream `metrics$`, and the instruments of a metrics library. */
import {
  ApiError,
  addEventHandler,
  createInformer,
  type GaugeCallback,
  type InformerMetrics,
  type MetricAttributes,
  type MetricsProvider,
  metered,
  metricsOf,
} from 'rx-informer';
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import {
  added,
  modified,
  pod,
  scriptedInformer,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';
import { settle, slowly } from './handler-rig.ts';

/** A metrics provider that records its calls. */
function recorder() {
  const sums = new Map<string, number>();
  const recorded: [string, number, MetricAttributes | undefined][] = [];
  const gauges = new Map<string, Set<GaugeCallback>>();
  const counter = (name: string) => ({
    add: (value: number) => sums.set(name, (sums.get(name) ?? 0) + value),
  });
  const metrics: MetricsProvider = {
    createCounter: counter,
    createUpDownCounter: counter,
    createHistogram: (name) => ({
      record: (value, attributes) => recorded.push([name, value, attributes]),
    }),
    createObservableGauge: (name) => {
      const callbacks = gauges.get(name) ?? new Set();
      gauges.set(name, callbacks);
      return {
        addCallback: (callback) => callbacks.add(callback),
        removeCallback: (callback) => callbacks.delete(callback),
      };
    },
  };
  const collect = () => {
    const seen: Record<string, [number, MetricAttributes | undefined]> = {};
    for (const [name, callbacks] of gauges) {
      for (const callback of callbacks) {
        callback({ observe: (value, attributes) => (seen[name] = [value, attributes]) });
      }
    }
    return seen;
  };
  return { metrics, sums, recorded, collect };
}

describe('metrics', () => {
  it('I27: metrics$ emits on subscription, after each commit, and when a handler has caught up', async () => {
    const { source, informer } = scriptedInformer({ name: 'pods' });
    const seen: InformerMetrics[] = [];
    metricsOf(informer).metrics$.subscribe((metrics) => seen.push(metrics));
    expect(source.asked).toEqual([]);
    const zero = { count: 0, sum: 0, max: 0 };
    expect(seen).toEqual([
      {
        name: 'pods',
        objects: 0,
        queuedItems: 0,
        pendingNotifications: 0,
        processingLatencySeconds: zero,
        storeResourceVersion: '',
        refused: 0,
        refusedItems: 0,
        reconnects: 0,
        relists: 0,
        auditCompared: 0,
        auditDiffered: 0,
        auditGhosts: 0,
        auditMissing: 0,
      },
    ]);
    const slow = slowly();
    addEventHandler(informer, slow.handler);
    source.listed(7, pod('a', 1), pod('b', 2));
    informer.start();
    expect(seen.at(-1)).toMatchObject({
      objects: 2,
      pendingNotifications: 1,
      storeResourceVersion: '7',
    });
    await slow.finish(2);
    expect(seen.at(-1)).toMatchObject({ pendingNotifications: 0 });
    await informer.stop();
    expect(seen.at(-1)).toMatchObject({ objects: 2, queuedItems: 0 });
  });

  it('I127: the histogram has a hundred batches of a second, and each slow one', async () => {
    const time = new VirtualTime();
    const { metrics, recorded } = recorder();
    const { source, informer } = scriptedInformer({
      ...{ name: 'pods', scheduler: time, metrics: metered(metrics) },
    });
    let tookMs = 0;
    addEventHandler(informer, { onUpdate: () => time.jump(tookMs) });
    source.listed(1, pod('a', 1));
    informer.start();
    await time.advance(10_000);
    let version = 1;
    const batches = (count: number, ms = 0) => {
      tookMs = ms;
      const before = recorded.length;
      for (let at = 0; at < count; at++) source.send(modified(pod('a', ++version)));
      return recorded.slice(before).map(([, seconds]) => seconds);
    };
    const { count } = metricsOf(informer).metrics.processingLatencySeconds;
    expect(batches(250)).toHaveLength(100);
    expect(batches(2, 9)).toEqual([]);
    expect(batches(2, 10)).toEqual([0.01, 0.01]);
    await time.advance(1_000);
    expect(batches(250)).toHaveLength(100);
    expect(metricsOf(informer).metrics.processingLatencySeconds.count).toBe(count + 504);
  });

  it('I27: the gauges and the histogram have the names of client-go and are registered during a run', async () => {
    const time = new VirtualTime();
    const { metrics, sums, recorded, collect } = recorder();
    const capacity = new Subject<void>();
    let open = true;
    const { source, informer } = scriptedInformer({
      name: 'pods',
      scheduler: time,
      metrics: metered(metrics),
      metricAttributes: { resource: 'pods' },
      demand: () => (open ? null : capacity),
      backoff: () => 0,
    });
    const labels = { name: 'pods', resource: 'pods' };
    addEventHandler(informer, { onUpdate: () => time.jump(250) });
    expect(collect()).toEqual({});
    source.listed(1, pod('a', 1));
    informer.start();
    // Before anything is counted, because a rate needs the value before the first event.
    expect([sums.get('informer_relists_total'), sums.get('informer_audit_differed_total')]).toEqual(
      [0, 0],
    );
    open = false;
    source.send(modified(pod('a', 2)), added(pod('b', 3)));
    expect(collect()).toMatchObject({ informer_queued_items: [2, labels] });
    open = true;
    capacity.next();
    const latency = 'informer_processing_latency_seconds';
    expect(recorded.filter(([name]) => name === latency).at(-1)).toEqual([latency, 0.25, labels]);
    source.send(added(pod('c', 5)));
    source.listed(9, pod('a', 9));
    source.fail(ApiError.fromStatus({ code: 410, reason: 'Expired' }, 410));
    await time.advance(1);
    expect(collect()).toEqual({
      informer_queued_items: [0, labels],
      informer_store_resource_version: [9, labels],
      informer_pending_notifications: [0, labels],
      informer_objects: [1, labels],
      informer_refused_objects: [0, labels],
      informer_synced: [1, labels],
      informer_live: [1, labels],
      informer_stale_seconds: [0, labels],
      informer_blocked: [0, { ...labels, reason: 'wrong-kind' }],
    });
    expect(sums.get('informer_relists_total')).toBe(1);
    await informer.stop();
    // Once, because the SDK of OpenTelemetry repeats the last value of a series that is not observed.
    const last = collect();
    expect(Object.keys(last)).toHaveLength(9);
    expect(Object.values(last).map(([value]) => value)).toEqual(new Array(9).fill(0));
    await settle();
    expect(collect()).toEqual({});
    source.listed(20, pod('a', 9));
    informer.start();
    expect(collect()).toMatchObject({ informer_store_resource_version: [20, labels] });
    await informer.stop();
    // The next run does not count again what an earlier run has counted.
    expect(sums.get('informer_relists_total')).toBe(1);
  });

  it('I27: the gauge of a version beyond the exact range of numbers has its last digits', async () => {
    const source = scriptedListWatch();
    const { metrics, collect } = recorder();
    const informer = createInformer(source, {}, { metrics: metered(metrics) });
    const web = pod('a', 1);
    const resourceVersion = '98765432109876543210';
    source.listed(1);
    informer.start();
    source.send(added({ ...web, metadata: { ...web.metadata, resourceVersion } }));
    expect(collect().informer_store_resource_version?.[0]).toBe(432_109_876_543_210);
    expect(informer.lastSyncResourceVersion).toBe(resourceVersion);
    await informer.stop();
    expect(collect().informer_store_resource_version?.[0]).toBe(0);
    await settle();
    expect(collect()).toEqual({});
    informer.start();
    await informer.stop();
    // Nothing saw this run, so nothing must forget it.
    expect(collect()).toEqual({});
  });
});
