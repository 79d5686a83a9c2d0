/**
 * The metrics of an informer, as a stream of values and as instruments of a metrics library. An informer that is not
 * measured pays nothing. client-go: tools/cache/informer_metrics.go.
 */

import { Observable, Subject, type Subscription } from 'rxjs';
import { unaudited } from '../audit/status.ts';
import { check } from '../checks/checked-option.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type {
  GaugeCallback,
  GaugeResult,
  MetricAttributes,
  MetricCounter,
  MetricObservableGauge,
  MetricsProvider,
} from '../meta/metrics.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';
import { reportingErrors } from '../rx/report-unhandled.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import type { IndexerReader } from '../store/indexer.ts';
import { reportSubscriberErrors } from './handlers/report-subscriber-errors.ts';
import { type InformerPart, type InformerPartMaker, type InformerPort, portOf } from './part.ts';
import type { InformerStatus } from './status/status.ts';

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
  readonly refused: number;
  readonly reconnects: number;
  readonly relists: number;
  /** Objects that the audit of this run compared with the server. */
  readonly auditCompared: number;
  /** Objects that differed in the audit of this run. */
  readonly auditDiffered: number;
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
  /** Calls the provider, whose errors go to `onUnhandledError`. */
  readonly #safely: (act: () => void) => void;
  #counting: Subscription | undefined;

  constructor(
    metrics: MetricsProvider,
    attributes: MetricAttributes,
    current: () => InformerMetrics,
    report: (error: unknown) => void,
  ) {
    this.#attributes = attributes;
    this.#safely = (act) => reportingErrors(act, report)();
    const gauge = (
      name: string,
      description: string,
      read: (metrics: InformerMetrics) => number,
    ) => ({
      gauge: metrics.createObservableGauge(name, { description }),
      callback: (result: GaugeResult) => result.observe(read(current()), attributes),
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
      gauge('informer_refused_objects', 'Objects that were refused', (of) => of.refused),
    ];
    this.#counters = [
      counter('reconnects', 'reconnects', 'Watches that were reopened'),
      counter('relists', 'relists', 'Lists after the first'),
      counter('auditCompared', 'audit_compared', 'Objects that were compared with the server'),
      counter('auditDiffered', 'audit_differed', 'Objects that differed from the server'),
    ];
  }

  begin(status$: Observable<InformerStatus>): void {
    for (const { gauge, callback } of this.#gauges) this.#safely(() => gauge.addCallback(callback));
    // A rate needs the value before the first event.
    for (const { counter } of this.#counters) this.#safely(() => counter.add(0, this.#attributes));
    this.#counting = status$.subscribe((status) => {
      const counts = countsOf(status);
      for (const each of this.#counters) {
        const now = counts[each.name];
        const grown = now - each.last;
        each.last = now;
        if (grown > 0) this.#safely(() => each.counter.add(grown, this.#attributes));
      }
    });
  }

  end(): void {
    for (const { gauge, callback } of this.#gauges)
      this.#safely(() => gauge.removeCallback(callback));
    this.#counting?.unsubscribe();
  }

  record(seconds: number): void {
    this.#safely(() => this.#latency.record(seconds, this.#attributes));
  }
}

/** Measures one informer. Its gauges are read on demand. */
class Meter<T extends KubernetesObject> implements InformerPart<T> {
  readonly #port: InformerPort<T>;
  readonly #elapsedMs: () => number;
  readonly #instruments: Instruments | undefined;
  readonly #changes = new Subject<void>();
  #count = 0;
  #sum = 0;
  #max = 0;

  constructor(port: InformerPort<T>, metrics?: MetricsProvider) {
    this.#port = port;
    this.#elapsedMs = stopwatch(port.timing.scheduler);
    if (metrics === undefined) return;
    const report = (error: unknown) => port.report(error, { subscriber: 'metrics' });
    try {
      const attributes = { name: port.name, ...port.metricAttributes };
      this.#instruments = new Instruments(metrics, attributes, () => this.read(), report);
    } catch (error) {
      // Without instruments nothing is measured, but the informer works.
      report(error);
    }
  }

  readonly metrics$: Observable<InformerMetrics> = new Observable<InformerMetrics>((subscriber) => {
    const emit = () => subscriber.next(this.read());
    subscriber.add(this.#changes.subscribe(emit));
    // The status emits on subscription, which makes the first emission here, and its completion completes this stream.
    subscriber.add(
      this.#port.board.quiet$.subscribe({ next: emit, complete: () => subscriber.complete() }),
    );
  });

  read(): InformerMetrics {
    const { name, store, board, queueLength, waiting } = this.#port;
    const { status } = board;
    return {
      name,
      objects: store.size,
      queuedItems: queueLength,
      pendingNotifications: waiting,
      processingLatencySeconds: { count: this.#count, sum: this.#sum, max: this.#max },
      storeResourceVersion: store.resourceVersion,
      refused: status.refused,
      ...countsOf(status),
    };
  }

  begin(): void {
    this.#instruments?.begin(this.#port.board.quiet$);
  }

  end(): void {
    this.#instruments?.end();
  }

  around(batch: () => void): void {
    const since = this.#elapsedMs();
    batch();
    const seconds = (this.#elapsedMs() - since) / 1000;
    this.#count++;
    this.#sum += seconds;
    if (seconds > this.#max) this.#max = seconds;
    this.#instruments?.record(seconds);
  }

  committed(): void {
    this.caughtUp();
  }

  caughtUp(): void {
    if (this.#changes.observed) this.#changes.next();
  }
}

/**
 * The option `metrics` of an informer or a factory: creates the instruments of client-go's informer metrics with the
 * provider, for which a `Meter` of OpenTelemetry fits. The gauges are registered while the informer runs. An error that
 * the provider throws is reported, and the informer works without instruments. Throws a `TypeError` if `provider` is not
 * a provider. client-go: tools/cache/informer_metrics.go.
 *
 * @example
 * ```ts
 * import { createClient, createListWatch, createSharedInformer, metered, type MetricsProvider } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const names: string[] = [];
 * const instrument = (name: string) => {
 *   names.push(name);
 *   return { add() {}, record() {}, addCallback() {}, removeCallback() {} };
 * };
 * const provider: MetricsProvider = {
 *   createCounter: instrument,
 *   createUpDownCounter: instrument,
 *   createHistogram: instrument,
 *   createObservableGauge: instrument,
 * };
 * const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
 * createSharedInformer(createListWatch(client, pods), { metrics: metered(provider) });
 * names.includes('informer_objects'); // => true
 * ```
 */
export function metered(provider: MetricsProvider): InformerPartMaker {
  const isProvider = typeof provider?.createHistogram === 'function';
  const must =
    'a Meter of OpenTelemetry, or an object with createCounter, createHistogram and createObservableGauge';
  check(isProvider, 'metered: the argument', provider, must);
  return (port: InformerPort<KubernetesObject>) => {
    port.attach(Meter, () => new Meter(port, provider));
  };
}

/** The metrics of one informer, from {@link metricsOf}. */
export interface InformerMetricsReader {
  /** The current metrics. */
  readonly metrics: InformerMetrics;
  /**
   * Emits the metrics on subscription, then after each commit and each transition. Does not start the informer. Never
   * errors, continues with the next run after a stop, and completes if a factory removes the informer.
   */
  readonly metrics$: Observable<InformerMetrics>;
}

/**
 * The metrics of an informer as values. Durations are measured from the first call, or from the creation of the informer
 * if it has the option `metrics`. Throws a `TypeError` if `informer` is not an informer.
 *
 * @example
 * ```ts
 * import { createClient, createListWatch, createSharedInformer, metricsOf } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const informer = createSharedInformer(createListWatch(client, pods));
 * informer.start();
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * metricsOf(informer).metrics.objects; // => 1
 * await informer.stop();
 * ```
 */
export function metricsOf<T extends KubernetesObject>(informer: {
  readonly indexer: IndexerReader<T>;
}): InformerMetricsReader {
  const port = portOf<T>(informer, 'metricsOf');
  const meter = port.attach(Meter, () => new Meter(port));
  return {
    get metrics() {
      return meter.read();
    },
    metrics$: reportSubscriberErrors(meter.metrics$, (error, subscriber) =>
      port.report(error, { subscriber }),
    ),
  };
}
