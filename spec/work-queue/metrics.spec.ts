import { type Meter, metrics } from '@opentelemetry/api';
import {
  createRateLimitingQueue,
  createWorkQueue,
  type GaugeCallback,
  type MetricsProvider,
  metered,
  type QueueMetrics,
  workQueue,
} from 'rx-informer';
import { config, of } from 'rxjs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { allReported } from '../support/errors.ts';

/** A provider that records the reported values, by instrument. */
function recorder() {
  const values = new Map<string, number[]>();
  const gauges = new Map<string, GaugeCallback>();
  const labels = new Set<string>();
  const keep = (name: string) => (value: number, attributes?: object) => {
    values.set(name, [...(values.get(name) ?? []), value]);
    labels.add(JSON.stringify(attributes));
  };
  const provider: MetricsProvider = {
    createCounter: (name) => ({ add: keep(name) }),
    createUpDownCounter: (name) => ({ add: keep(name) }),
    createHistogram: (name) => ({ record: keep(name) }),
    createObservableGauge: (name) => ({
      addCallback: (callback) => gauges.set(name, callback),
      removeCallback: () => gauges.delete(name),
    }),
  };
  const sum = (name: string) => (values.get(name) ?? []).reduce((all, each) => all + each, 0);
  const gauge = (name: string) => {
    let seen: number | undefined;
    gauges.get(name)?.({
      observe: (value) => {
        seen = value;
      },
    });
    return seen;
  };
  return { provider, values, gauges, labels, sum, gauge };
}

describe('metrics of a queue', () => {
  it("K13: are reported to a provider under client-go's names (TestMetrics)", async () => {
    const time = new VirtualTime();
    const { provider, values, labels, sum, gauge } = recorder();
    const queue = createWorkQueue({ name: 'test', scheduler: time, metrics: metered(provider) });
    queue.add('foo');
    expect([sum('workqueue_adds_total'), sum('workqueue_depth')]).toEqual([1, 1]);
    await time.advance(50);
    expect(queue.tryGet()).toBe('foo');
    expect(values.get('workqueue_queue_duration_seconds')).toEqual([0.05]);
    for (let times = 0; times < 5; times++) queue.add('foo');
    expect([sum('workqueue_adds_total'), sum('workqueue_depth')]).toEqual([2, 1]);
    await time.advance(25);
    queue.done('foo');
    expect(values.get('workqueue_work_duration_seconds')).toEqual([0.025]);
    expect(sum('workqueue_depth')).toBe(1);
    queue.tryGet();
    expect(values.get('workqueue_queue_duration_seconds')).toEqual([0.05, 0.025]);
    await time.advance(1);
    queue.add('bar');
    queue.tryGet();
    await time.advance(1);
    expect(gauge('workqueue_unfinished_work_seconds')).toBe(0.003);
    expect(gauge('workqueue_longest_running_processor_seconds')).toBe(0.002);
    expect([...labels]).toEqual(['{"name":"test"}']);
  });

  it('K13: count retries and delayed adds', () => {
    const { provider, values, sum } = recorder();
    const queue = createRateLimitingQueue({
      scheduler: new VirtualTime(),
      metrics: metered(provider),
    });
    // Before the first retry, because a rate needs that value.
    expect(values.get('workqueue_retries_total')).toEqual([0]);
    queue.addRateLimited('foo');
    queue.addAfter('bar', 10);
    queue.add('baz');
    expect([sum('workqueue_retries_total'), sum('workqueue_adds_total')]).toEqual([2, 1]);
    expect(queue.metrics).toMatchObject({ retriesTotal: 2, addsTotal: 1, waiting: 2, depth: 1 });
  });

  it('K13: release their gauges when the queue is shut down and every key is done (TestMetricShutdown)', () => {
    const { provider, gauges } = recorder();
    const queue = createWorkQueue({ metrics: metered(provider) });
    queue.add('foo');
    queue.tryGet();
    queue.shutDown();
    expect(gauges.size).toBe(2);
    queue.done('foo');
    expect(gauges.size).toBe(0);
  });

  it('K13: are an Observable that emits now, then every half second in which they changed, until the queue ends', async () => {
    const time = new VirtualTime();
    const queue = createWorkQueue({ name: 'pods', scheduler: time });
    const seen: string[] = [];
    const log = ({ depth, processing, unfinishedWorkSeconds }: QueueMetrics) =>
      seen.push(`${time.now()}: ${depth} ${processing} ${unfinishedWorkSeconds}`);
    const subscription = queue.metrics$.subscribe({ next: log, complete: () => seen.push('end') });
    await time.advance(600);
    queue.add('foo');
    await time.advance(500);
    queue.tryGet();
    await time.advance(1000);
    queue.shutDown();
    queue.done('foo');
    expect(seen).toEqual([
      '0: 0 0 0',
      '1000: 1 0 0',
      '1500: 0 1 0.4',
      '2000: 0 1 0.9',
      '2100: 0 0 0',
      'end',
    ]);
    expect([subscription.closed, time.pending]).toEqual([true, 0]);
    const late: string[] = [];
    queue.metrics$.subscribe({
      next: ({ name, workDurationSeconds }) => late.push(name, JSON.stringify(workDurationSeconds)),
      complete: () => late.push('end'),
    });
    expect(late).toEqual(['pods', '{"count":1,"sum":1,"max":1}', 'end']);
  });

  it('K13: hold no timer without a subscriber', () => {
    const time = new VirtualTime();
    const queue = createWorkQueue({ scheduler: time });
    queue.metrics$.subscribe().unsubscribe();
    queue.add('foo');
    expect(time.pending).toBe(0);
  });

  it('K13: release their gauges when an operator completes or is unsubscribed', () => {
    const scheduler = new VirtualTime();
    const { provider, gauges, sum } = recorder();
    const options = { metrics: metered(provider), scheduler };
    of('a', 'b')
      .pipe(workQueue(() => {}, options))
      .subscribe();
    expect([gauges.size, sum('workqueue_adds_total'), sum('workqueue_depth')]).toEqual([0, 2, 0]);
    const stuck = of('a', 'b')
      .pipe(workQueue(() => new Promise(() => {}), options))
      .subscribe();
    expect([gauges.size, sum('workqueue_depth')]).toEqual([2, 1]);
    stuck.unsubscribe();
    expect([gauges.size, sum('workqueue_depth')]).toEqual([0, 0]);
  });

  it('K13: a provider that throws is reported and stops no work', async () => {
    const { provider } = recorder();
    const reported: unknown[] = [];
    config.onUnhandledError = (error) => reported.push(error);
    const full = new Error('the provider is full');
    const fail = () => {
      throw full;
    };
    const queue = createWorkQueue({
      metrics: metered({ ...provider, createCounter: () => ({ add: fail }) }),
    });
    queue.add('foo');
    await allReported();
    config.onUnhandledError = null;
    // For the value at the beginning, and for the key.
    expect([queue.tryGet(), reported]).toEqual(['foo', [full, full]]);
  });

  it('K13: a provider that throws while its instruments are created stops no work either', async () => {
    const reported: unknown[] = [];
    config.onUnhandledError = (error) => reported.push((error as Error).message);
    const fail = (what: string) => () => {
      throw new Error(what);
    };
    const { provider, gauges } = recorder();
    const makes = createWorkQueue({
      metrics: metered({ ...provider, createHistogram: fail('no histogram') }),
    });
    const gives = createWorkQueue({
      metrics: metered({
        ...provider,
        createObservableGauge: (name) => ({
          addCallback: (callback) => gauges.set(name, callback),
          removeCallback: () => {
            gauges.delete(name);
            fail('not given back')();
          },
        }),
      }),
    });
    for (const queue of [makes, gives]) {
      queue.add('foo');
      expect(queue.tryGet()).toBe('foo');
      queue.done('foo');
      queue.shutDown();
    }
    await allReported();
    config.onUnhandledError = null;
    // The gauges that were created before the error are released, too.
    expect([reported, gauges.size]).toEqual([
      ['no histogram', 'not given back', 'not given back'],
      0,
    ]);
  });

  it("K13: can be reported to OpenTelemetry's meter without an adapter", () => {
    expectTypeOf<Meter>().toExtend<MetricsProvider>();
    const queue = createWorkQueue({ metrics: metered(metrics.getMeter('my-controller')) });
    queue.add('foo');
    expect(queue.tryGet()).toBe('foo');
  });
});
