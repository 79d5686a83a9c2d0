/** Measures a queue and reports the metrics to a provider. client-go: util/workqueue/metrics.go, with the same names. */
import type { GaugeCallback, MetricObservableGauge, MetricsProvider } from '../meta/metrics.ts';
import { reportingErrors } from '../rx/report-unhandled.ts';

/** A summary of a distribution of durations, in seconds. */
export interface DurationSummary {
  readonly count: number;
  readonly sum: number;
  readonly max: number;
}

/** The metrics of a queue. Durations are in seconds, as is usual in monitoring. */
export interface QueueMetrics {
  readonly name: string;
  /** Keys that need processing, including those that were added while a worker has them. */
  readonly depth: number;
  /** Keys that wait for their time. */
  readonly waiting: number;
  /** Keys that a worker has. */
  readonly processing: number;
  readonly addsTotal: number;
  readonly retriesTotal: number;
  readonly queueDurationSeconds: DurationSummary;
  readonly workDurationSeconds: DurationSummary;
  /** For how long the keys that are being processed have been processed, in total. */
  readonly unfinishedWorkSeconds: number;
  readonly longestRunningProcessorSeconds: number;
}

/** The part of the metrics that the queue computes from its current state. */
export type QueueState = Pick<
  QueueMetrics,
  'depth' | 'waiting' | 'processing' | 'unfinishedWorkSeconds' | 'longestRunningProcessorSeconds'
>;

/** The durations so far. */
class Durations {
  #count = 0;
  #sum = 0;
  #max = 0;

  add(seconds: number): void {
    this.#count += 1;
    this.#sum += seconds;
    if (seconds > this.#max) this.#max = seconds;
  }

  read(): DurationSummary {
    return { count: this.#count, sum: this.#sum, max: this.#max };
  }
}

/** The options of the figures of a queue. */
export interface QueueFiguresOptions {
  readonly name?: string | undefined;
  readonly metrics?: MetricsProvider | undefined;
  /** Receives the errors that the provider throws. */
  readonly onUnhandledError?: ((error: unknown) => void) | undefined;
}

/** Counts for one queue and passes the counts on. An error that the provider throws is reported. */
export class QueueFigures {
  readonly #name: string;
  readonly #state: () => QueueState;
  /** Release the callbacks of the gauges. */
  readonly #closers: (() => void)[] = [];
  #report: ((report: (instruments: Instruments) => void) => void) | undefined;
  /** Calls the provider. */
  readonly #safely: (act: () => void) => void;
  #addsTotal = 0;
  #retriesTotal = 0;
  readonly #queued = new Durations();
  readonly #worked = new Durations();

  constructor(
    { name = '', metrics: provider, onUnhandledError }: QueueFiguresOptions,
    state: () => QueueState,
  ) {
    this.#name = name;
    this.#state = state;
    this.#safely = (act) => reportingErrors(act, onUnhandledError)();
    if (provider === undefined) return;
    const observe = (gauge: MetricObservableGauge, field: keyof QueueState) => {
      const callback: GaugeCallback = (result) => result.observe(state()[field], { name });
      this.#closers.push(() => gauge.removeCallback(callback));
      gauge.addCallback(callback);
    };
    this.#safely(() => {
      const instruments = instrumentsOf(provider, name, observe);
      this.#report = (report) => this.#safely(() => report(instruments));
      // A rate needs the value before the first retry.
      instruments.retries.add(0, instruments.labels);
    });
    // If an instrument could not be created, nothing is reported to the others.
    if (this.#report === undefined) this.close();
  }

  added(): void {
    this.#addsTotal += 1;
    this.#report?.((to) => {
      to.adds.add(1, to.labels);
      to.depth.add(1, to.labels);
    });
  }

  retried(): void {
    this.#retriesTotal += 1;
    this.#report?.((to) => to.retries.add(1, to.labels));
  }

  got(queuedMs: number): void {
    this.#queued.add(queuedMs / 1000);
    this.#report?.((to) => {
      to.depth.add(-1, to.labels);
      to.queueDuration.record(queuedMs / 1000, to.labels);
    });
  }

  /** Subtracts keys that were dropped. */
  dropped(count: number): void {
    if (count > 0) this.#report?.((to) => to.depth.add(-count, to.labels));
  }

  done(workedMs: number): void {
    this.#worked.add(workedMs / 1000);
    this.#report?.((to) => to.workDuration.record(workedMs / 1000, to.labels));
  }

  /** Releases the gauges, because nothing changes from now on and the provider must not read them again. */
  close(): void {
    for (const close of this.#closers.splice(0)) this.#safely(close);
  }

  read(): QueueMetrics {
    return {
      name: this.#name,
      ...this.#state(),
      addsTotal: this.#addsTotal,
      retriesTotal: this.#retriesTotal,
      queueDurationSeconds: this.#queued.read(),
      workDurationSeconds: this.#worked.read(),
    };
  }
}

type Instruments = ReturnType<typeof instrumentsOf>;

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
    'Total processing time of the keys in progress',
    'unfinishedWorkSeconds',
  );
  gauge(
    'workqueue_longest_running_processor_seconds',
    'Processing time of the longest running worker',
    'longestRunningProcessorSeconds',
  );
  return {
    labels,
    depth: provider.createUpDownCounter('workqueue_depth', {
      description: 'Keys to process',
    }),
    adds: provider.createCounter('workqueue_adds_total', { description: 'Keys added' }),
    retries: provider.createCounter('workqueue_retries_total', {
      description: 'Keys retried or delayed',
    }),
    queueDuration: histogram('workqueue_queue_duration_seconds', 'How long a key waits'),
    workDuration: histogram('workqueue_work_duration_seconds', 'How long a key is processed'),
  };
}
