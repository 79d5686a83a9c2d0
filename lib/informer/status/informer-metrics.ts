/**
 * The metrics of an informer, as a stream of values and as instruments of a metrics library. Gauges are read on demand,
 * so that unused metrics cost only two readings of the clock per batch. client-go: tools/cache/informer_metrics.go.
 */
import { Observable, type SchedulerLike, Subject, type Subscription } from 'rxjs';
import { unaudited } from '../../audit/status.ts';
import type {
  GaugeCallback,
  GaugeResult,
  MetricAttributes,
  MetricCounter,
  MetricObservableGauge,
  MetricsProvider,
} from '../../meta/metrics.ts';
import type { ResourceVersion } from '../../meta/resource-version.ts';
import { reportingErrors, reportUnhandled } from '../../rx/report-unhandled.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import type { IndexerReader } from '../../store/indexer.ts';
import type { InformerStatus } from './status.ts';

/** The metrics of an informer. Durations are in seconds, the unit of monitoring systems. */
export interface InformerMetrics {
  readonly name: string;
  /** Objects in the store. */
  readonly objects: number;
  /** Deltas that wait for the commit (client-go's informer_queued_items). */
  readonly queuedItems: number;
  /** Changes that wait for busy handlers. */
  readonly pendingNotifications: number;
  /**
   * Durations from the pop of a batch to the return of its last callback (client-go's
   * informer_processing_latency_seconds).
   */
  readonly processingLatencySeconds: {
    readonly count: number;
    readonly sum: number;
    readonly max: number;
  };
  readonly storeResourceVersion: ResourceVersion | '';
  /** Refused objects. */
  readonly quarantined: number;
  readonly reconnects: number;
  readonly relists: number;
  /** Objects that the audit of this run compared with the server. */
  readonly auditCompared: number;
  /** Objects that differed in the audit of this run. */
  readonly auditDiffered: number;
}

/** The sources of a meter. */
export interface MeterOptions {
  readonly name: string;
  readonly indexer: Pick<IndexerReader<unknown>, 'size' | 'resourceVersion'>;
  readonly board: {
    readonly status: InformerStatus;
    readonly quiet$: Observable<InformerStatus>;
  };
  readonly scheduler: SchedulerLike;
  readonly metrics: MetricsProvider | undefined;
  readonly metricAttributes: MetricAttributes | undefined;
  pending(): number;
}

const NUMBER_DIGITS = 15;

/**
 * The last digits of a version, because a version may exceed the exact range of numbers. They show whether it advances.
 */
function versionNumber(version: string): number {
  return Number(version.slice(-NUMBER_DIGITS)) || 0;
}

/** The metrics that only grow within a run. */
type Counted = 'reconnects' | 'relists' | 'auditCompared' | 'auditDiffered';

function countsOf({ reconnects, relists, audit }: InformerStatus): Record<Counted, number> {
  const { compared, differed } = typeof audit === 'object' ? audit : unaudited;
  return { reconnects, relists, auditCompared: compared, auditDiffered: differed };
}

/** The instruments of one informer, which measure while a run is alive. */
class Instruments {
  readonly #latency: { record(value: number, attributes?: MetricAttributes): void };
  readonly #gauges: { readonly gauge: MetricObservableGauge; readonly callback: GaugeCallback }[];
  readonly #counters: {
    readonly counter: MetricCounter;
    readonly name: Counted;
    last: number;
  }[];
  readonly #attributes: MetricAttributes;
  #counting: Subscription | undefined;

  constructor(metrics: MetricsProvider, attributes: MetricAttributes, meter: InformerMeter) {
    this.#attributes = attributes;
    const gauge = (
      name: string,
      description: string,
      read: (metrics: InformerMetrics) => number,
    ) => ({
      gauge: metrics.createObservableGauge(name, { description }),
      callback: (result: GaugeResult) => result.observe(read(meter.read()), attributes),
    });
    const counter = (name: Counted, of: string, description: string) => ({
      counter: metrics.createCounter(`informer_${of}_total`, { description }),
      name,
      last: 0,
    });
    this.#latency = metrics.createHistogram('informer_processing_latency_seconds', {
      description: 'Time from the pop of a batch to its last callback',
      unit: 's',
    });
    this.#gauges = [
      gauge('informer_queued_items', 'Deltas that wait for the commit', (of) => of.queuedItems),
      gauge('informer_store_resource_version', 'The last digits of the resourceVersion', (of) =>
        versionNumber(of.storeResourceVersion),
      ),
      gauge(
        'informer_pending_notifications',
        'Changes that wait for handlers',
        (of) => of.pendingNotifications,
      ),
      gauge('informer_objects', 'Objects in the store', (of) => of.objects),
      gauge('informer_quarantined_objects', 'Objects that were refused', (of) => of.quarantined),
    ];
    this.#counters = [
      counter('reconnects', 'reconnects', 'Watches that were reopened'),
      counter('relists', 'relists', 'Lists after the first'),
      counter('auditCompared', 'audit_compared', 'Objects that were compared with the server'),
      counter('auditDiffered', 'audit_differed', 'Objects that differed from the server'),
    ];
  }

  begin(status$: Observable<InformerStatus>): void {
    for (const { gauge, callback } of this.#gauges)
      reportingErrors(() => gauge.addCallback(callback))();
    this.#counting = status$.subscribe((status) => {
      const counts = countsOf(status);
      for (const each of this.#counters) {
        const now = counts[each.name];
        if (now > each.last) each.counter.add(now - each.last, this.#attributes);
        each.last = now;
      }
    });
  }

  end(): void {
    for (const { gauge, callback } of this.#gauges)
      reportingErrors(() => gauge.removeCallback(callback))();
    this.#counting?.unsubscribe();
  }

  record(seconds: number): void {
    reportingErrors(() => this.#latency.record(seconds, this.#attributes))();
  }
}

/** Measures one informer. */
export class InformerMeter {
  readonly #options: MeterOptions;
  readonly #elapsedMs: () => number;
  readonly #instruments: Instruments | undefined;
  readonly #changes = new Subject<void>();
  #count = 0;
  #sum = 0;
  #max = 0;
  /** The delta queue of the current run. */
  queue: { readonly size: number } | undefined;

  constructor(options: MeterOptions) {
    this.#options = options;
    this.#elapsedMs = stopwatch(options.scheduler);
    const { name, metrics, metricAttributes } = options;
    if (metrics === undefined) return;
    try {
      this.#instruments = new Instruments(metrics, { name, ...metricAttributes }, this);
    } catch (error) {
      // Without instruments nothing is measured, but the informer works.
      reportUnhandled(error);
    }
  }

  readonly metrics$: Observable<InformerMetrics> = new Observable<InformerMetrics>((subscriber) => {
    const emit = () => subscriber.next(this.read());
    subscriber.add(this.#changes.subscribe(emit));
    // The status emits on subscription, which makes the first emission here, and its completion completes this stream.
    subscriber.add(
      this.#options.board.quiet$.subscribe({ next: emit, complete: () => subscriber.complete() }),
    );
  });

  read(): InformerMetrics {
    const { name, indexer, board, pending } = this.#options;
    const { status } = board;
    return {
      name,
      objects: indexer.size,
      queuedItems: this.queue?.size ?? 0,
      pendingNotifications: pending(),
      processingLatencySeconds: { count: this.#count, sum: this.#sum, max: this.#max },
      storeResourceVersion: indexer.resourceVersion,
      quarantined: status.quarantined,
      ...countsOf(status),
    };
  }

  /** Registers the gauges at the beginning of a run. */
  begin(): void {
    this.#instruments?.begin(this.#options.board.quiet$);
  }

  /** Releases the gauges at the end of a run. */
  end(): void {
    this.queue = undefined;
    this.#instruments?.end();
  }

  /** Runs a batch and measures its duration. */
  measure(work: () => void): void {
    const since = this.#elapsedMs();
    work();
    const seconds = (this.#elapsedMs() - since) / 1000;
    this.#count++;
    this.#sum += seconds;
    if (seconds > this.#max) this.#max = seconds;
    this.#instruments?.record(seconds);
  }

  /** Emits the metrics after a commit, or when a handler has caught up. */
  moved(): void {
    if (this.#changes.observed) this.#changes.next();
  }
}
