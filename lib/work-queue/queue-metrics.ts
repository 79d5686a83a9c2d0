/**
 * The figures of a queue, kept as it works. client-go: util/workqueue/metrics.go, under the same names.
 */
import type { GaugeCallback, MetricObservableGauge, MetricsProvider } from '../meta/metrics.ts';
import { reportUnhandled } from '../rx/report-unhandled.ts';

/** A distribution in brief. */
export interface DurationSummary {
  readonly count: number;
  readonly sum: number;
  readonly max: number;
}

/** What a queue has done and has to do. Times are in seconds, as monitoring has them. */
export interface QueueMetrics {
  readonly name: string;
  /** Keys that are to be worked on, those included that were added while they are with a worker. */
  readonly depth: number;
  /** Keys that wait for their time. */
  readonly waiting: number;
  /** Keys that are with a worker. */
  readonly processing: number;
  readonly addsTotal: number;
  readonly retriesTotal: number;
  readonly queueDurationSeconds: DurationSummary;
  readonly workDurationSeconds: DurationSummary;
  /** The sum over all that is with a worker now. */
  readonly unfinishedWorkSeconds: number;
  readonly longestRunningProcessorSeconds: number;
}

/** What a queue knows of itself at this moment. */
export type QueueState = Pick<
  QueueMetrics,
  'depth' | 'waiting' | 'processing' | 'unfinishedWorkSeconds' | 'longestRunningProcessorSeconds'
>;

function withSample({ count, sum, max }: DurationSummary, seconds: number): DurationSummary {
  return { count: count + 1, sum: sum + seconds, max: Math.max(max, seconds) };
}

/** Counts for one queue, and passes on what it counts. A provider that throws is reported. */
export class QueueFigures {
  readonly #name: string;
  readonly #state: () => QueueState;
  /** Give the callbacks of the gauges back. */
  readonly #closers: (() => void)[] = [];
  #tell: ((report: (instruments: Instruments) => void) => void) | undefined;
  #addsTotal = 0;
  #retriesTotal = 0;
  #queued: DurationSummary = { count: 0, sum: 0, max: 0 };
  #worked: DurationSummary = { count: 0, sum: 0, max: 0 };

  constructor(name: string, provider: MetricsProvider | undefined, state: () => QueueState) {
    this.#name = name;
    this.#state = state;
    if (provider === undefined) return;
    const observe = (gauge: MetricObservableGauge, field: keyof QueueState) => {
      const callback: GaugeCallback = (result) => result.observe(state()[field], { name });
      this.#closers.push(() => gauge.removeCallback(callback));
      gauge.addCallback(callback);
    };
    safely(() => {
      const instruments = instrumentsOf(provider, name, observe);
      this.#tell = (report) => safely(() => report(instruments));
    });
    // Of half a set of instruments none is told.
    if (this.#tell === undefined) this.close();
  }

  added(): void {
    this.#addsTotal += 1;
    this.#tell?.((to) => {
      to.adds.add(1, to.labels);
      to.depth.add(1, to.labels);
    });
  }

  retried(): void {
    this.#retriesTotal += 1;
    this.#tell?.((to) => to.retries.add(1, to.labels));
  }

  got(queuedMs: number): void {
    this.#queued = withSample(this.#queued, queuedMs / 1000);
    this.#tell?.((to) => {
      to.depth.add(-1, to.labels);
      to.queueDuration.record(queuedMs / 1000, to.labels);
    });
  }

  /** Keys were thrown away. */
  dropped(count: number): void {
    if (count > 0) this.#tell?.((to) => to.depth.add(-count, to.labels));
  }

  done(workedMs: number): void {
    this.#worked = withSample(this.#worked, workedMs / 1000);
    this.#tell?.((to) => to.workDuration.record(workedMs / 1000, to.labels));
  }

  /** Nothing will happen any more: the provider is not to ask again. */
  close(): void {
    for (const close of this.#closers.splice(0)) safely(close);
  }

  read(): QueueMetrics {
    return {
      name: this.#name,
      ...this.#state(),
      addsTotal: this.#addsTotal,
      retriesTotal: this.#retriesTotal,
      queueDurationSeconds: this.#queued,
      workDurationSeconds: this.#worked,
    };
  }
}

type Instruments = ReturnType<typeof instrumentsOf>;

function safely(act: () => void): void {
  try {
    act();
  } catch (error) {
    reportUnhandled(error);
  }
}

function instrumentsOf(
  provider: MetricsProvider,
  name: string,
  observe: (gauge: MetricObservableGauge, field: keyof QueueState) => void,
) {
  const labels = { name };
  const gauge = (metric: string, description: string, field: keyof QueueState) => {
    observe(provider.createObservableGauge(metric, { description, unit: 's' }), field);
  };
  const histogram = (metric: string, description: string) =>
    provider.createHistogram(metric, { description, unit: 's' });
  gauge(
    'workqueue_unfinished_work_seconds',
    'How long all that is worked on has been worked on, in sum',
    'unfinishedWorkSeconds',
  );
  gauge(
    'workqueue_longest_running_processor_seconds',
    'How long the longest running worker has been at its key',
    'longestRunningProcessorSeconds',
  );
  return {
    labels,
    depth: provider.createUpDownCounter('workqueue_depth', { description: 'Keys to work on' }),
    adds: provider.createCounter('workqueue_adds_total', { description: 'Keys added' }),
    retries: provider.createCounter('workqueue_retries_total', { description: 'Keys added again' }),
    queueDuration: histogram('workqueue_queue_duration_seconds', 'How long a key waits'),
    workDuration: histogram('workqueue_work_duration_seconds', 'How long a key is worked on'),
  };
}
