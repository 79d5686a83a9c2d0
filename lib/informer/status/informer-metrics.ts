/**
 * The figures of an informer: as values to look at, and for a metrics library. Gauges are asked for, not pushed, so
 * that what nobody looks at costs two readings of the clock a batch.
 * client-go: tools/cache/informer_metrics.go.
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
import { reportUnhandled, told } from '../../rx/report-unhandled.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import type { IndexerReader } from '../../store/indexer.ts';
import type { InformerStatus } from './status.ts';

/** What an informer holds, does and owes. Times in seconds, as monitoring has them. */
export interface InformerMetrics {
  readonly name: string;
  readonly objects: number;
  /** Deltas that wait for the commit (client-go's informer_queued_items). */
  readonly queuedItems: number;
  /** Changes that wait for handlers that are busy. */
  readonly pendingNotifications: number;
  /** From the pop of a batch to its last callback (client-go's informer_processing_latency_seconds). */
  readonly processingLatencySeconds: {
    readonly count: number;
    readonly sum: number;
    readonly max: number;
  };
  readonly storeResourceVersion: ResourceVersion | '';
  readonly quarantined: number;
  readonly reconnects: number;
  readonly relists: number;
  /** Objects of this run that were compared with the server, and how many of them differed. */
  readonly auditCompared: number;
  readonly auditDiffered: number;
}

/** What a meter reads. */
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

/** Versions are longer than numbers are exact: the end of one tells whether it moves. */
function versionNumber(version: string): number {
  return Number(version.slice(-NUMBER_DIGITS)) || 0;
}

/** Figures that only grow within a run. */
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
      description: 'From the pop of a batch to its last callback',
      unit: 's',
    });
    this.#gauges = [
      gauge('informer_queued_items', 'Deltas that wait for the commit', (of) => of.queuedItems),
      gauge('informer_store_resource_version', 'The last digits of the version', (of) =>
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
      counter('reconnects', 'reconnects', 'Watches that were opened anew'),
      counter('relists', 'relists', 'Lists after the first'),
      counter('auditCompared', 'audit_compared', 'Objects that were compared with the server'),
      counter('auditDiffered', 'audit_differed', 'Objects that differed from the server'),
    ];
  }

  begin(status$: Observable<InformerStatus>): void {
    for (const { gauge, callback } of this.#gauges) told(() => gauge.addCallback(callback))();
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
    for (const { gauge, callback } of this.#gauges) told(() => gauge.removeCallback(callback))();
    this.#counting?.unsubscribe();
  }

  record(seconds: number): void {
    told(() => this.#latency.record(seconds, this.#attributes))();
  }
}

/** One informer's. */
export class InformerMeter {
  readonly #of: MeterOptions;
  readonly #passedMs: () => number;
  readonly #instruments: Instruments | undefined;
  readonly #moved = new Subject<void>();
  #count = 0;
  #sum = 0;
  #max = 0;
  /** The queue of the run. */
  queue: { readonly size: number } | undefined;

  constructor(of: MeterOptions) {
    this.#of = of;
    this.#passedMs = stopwatch(of.scheduler);
    const { name, metrics, metricAttributes } = of;
    if (metrics === undefined) return;
    try {
      this.#instruments = new Instruments(metrics, { name, ...metricAttributes }, this);
    } catch (error) {
      // A provider that makes no instruments measures nothing; the informer works.
      reportUnhandled(error);
    }
  }

  readonly metrics$: Observable<InformerMetrics> = new Observable<InformerMetrics>((subscriber) => {
    const tell = () => subscriber.next(this.read());
    subscriber.add(this.#moved.subscribe(tell));
    // The status comes at once, and with it the first figures. Its end is the end.
    subscriber.add(
      this.#of.board.quiet$.subscribe({ next: tell, complete: () => subscriber.complete() }),
    );
  });

  read(): InformerMetrics {
    const { name, indexer, board, pending } = this.#of;
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

  /** A run has begun. */
  begin(): void {
    this.#instruments?.begin(this.#of.board.quiet$);
  }

  /** The run has ended. */
  end(): void {
    this.queue = undefined;
    this.#instruments?.end();
  }

  /** Does a batch and takes its time. */
  measure(work: () => void): void {
    const since = this.#passedMs();
    work();
    const seconds = (this.#passedMs() - since) / 1000;
    this.#count++;
    this.#sum += seconds;
    if (seconds > this.#max) this.#max = seconds;
    this.#instruments?.record(seconds);
  }

  /** Something was committed, or a handler has caught up. */
  moved(): void {
    if (this.#moved.observed) this.#moved.next();
  }
}
