/**
 * The metrics of an informer, as a stream of values and as instruments of a metrics library. An informer that is not
 * measured pays nothing. client-go: tools/cache/informer_metrics.go.
 */

import { Observable, type SchedulerLike, Subject } from 'rxjs';
import { check } from '../checks/checked-option.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type {
  MeasuredController,
  MeasuredPublisher,
  MeasuredQueue,
  MeasuredSlots,
  Metered,
  MetricAttributes,
  MetricsProvider,
} from '../meta/metrics.ts';
import { observing, safelyBy } from '../metrics/gauges.ts';
import { leadRows, slotRows } from '../metrics/ownership.ts';
import { publisherRows } from '../metrics/publisher-rows.ts';
import { queueInstruments } from '../metrics/queue-instruments.ts';
import { reconcileFigures } from '../metrics/reconcile-figures.ts';
import { RequestFigures } from '../metrics/request-figures.ts';
import { snapshotFigures } from '../metrics/snapshot-figures.ts';
import type { Delta } from '../reflector/delta.ts';
import type { ReflectorStatus } from '../reflector/status.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import type { IndexerReader } from '../store/indexer.ts';
import { reportSubscriberErrors } from './handlers/report-subscriber-errors.ts';
import { countsOf, type InformerMetrics, Instruments } from './instruments.ts';
import { type InformerPart, type InformerPort, portOf } from './part.ts';

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
      const reading = {
        metrics: () => this.read(),
        status: () => port.board.status,
        nowMs: () => port.timing.scheduler.now(),
      };
      this.#instruments = new Instruments(metrics, attributes, reading, report);
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
    const now = this.#elapsedMs();
    const seconds = (now - since) / 1000;
    this.#count++;
    this.#sum += seconds;
    if (seconds > this.#max) this.#max = seconds;
    this.#instruments?.record(seconds, now);
  }

  status(at: number, { attempt }: ReflectorStatus): void {
    this.#instruments?.attempted(at, attempt);
  }

  received(_at: number, deltas: readonly Delta<T>[]): void {
    this.#instruments?.received(deltas);
  }

  committed(): void {
    this.caughtUp();
  }

  caughtUp(): void {
    if (this.#changes.observed) this.#changes.next();
  }
}

/** Options of {@link metered}. */
export interface MeteredOptions {
  /**
   * Receives what the provider throws for clients, electors, members of a ring, publishers and stores. Informers, factories and controllers
   * report it to their own `onUnhandledError`.
   * @defaultValue reported like rxjs's own errors: asynchronously, as uncaught errors
   */
  readonly onUnhandledError?: ((error: unknown) => void) | undefined;
}

/**
 * The option `metrics` of an informer, a factory, a controller, a client, an elector, a member of a ring, a queue, a publisher and a store: creates
 * their instruments with the provider, for which a `Meter` of OpenTelemetry fits, under the names of client-go and
 * controller-runtime. Call it once in a program and give the result to all of them: the clients of one result are counted
 * together. Gauges are registered while their subject runs, and are 0 in one collection after it. An error that the provider throws is reported, and what is
 * measured works without instruments.
 *
 * Throws a `TypeError` if `provider` is not a provider. client-go: tools/cache/informer_metrics.go, tools/metrics.
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
export function metered(provider: MetricsProvider, options: MeteredOptions = {}): Metered {
  const isProvider = typeof provider?.createHistogram === 'function';
  const must =
    'a Meter of OpenTelemetry, or an object with createCounter, createHistogram and createObservableGauge';
  check(isProvider, 'metered: the argument', provider, must);
  const safely = safelyBy(options.onUnhandledError);
  const informer = (port: InformerPort<KubernetesObject>) => {
    port.attach(Meter, () => new Meter(port, provider));
  };
  let requests: RequestFigures | undefined;
  return Object.assign(informer, {
    queue: (name: string, state: () => MeasuredQueue, report?: (error: unknown) => void) =>
      queueInstruments(provider, name, state, safelyBy(report ?? options.onUnhandledError)),
    controller: (of: MeasuredController) => reconcileFigures(provider, of),
    request(request: { method: string; use: string }, scheduler: SchedulerLike) {
      requests ??= new RequestFigures(provider, safely);
      return requests.begin(request, scheduler);
    },
    lead: (name: string, isLeading: () => boolean) =>
      observing(provider, safely, { name }, leadRows(isLeading)),
    shards: (name: string, read: () => MeasuredSlots) =>
      observing(provider, safely, { name }, slotRows(read)),
    snapshots: (name: string, labels: MetricAttributes | undefined, reasons: readonly string[]) =>
      snapshotFigures(provider, { name, ...labels }, reasons, safely),
    publisher: (labels: MetricAttributes, read: () => MeasuredPublisher) =>
      observing(provider, safely, labels, publisherRows(read)),
  });
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
