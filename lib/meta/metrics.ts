/**
 * The interface for metrics: the few members of OpenTelemetry's `Meter` that this library calls. A meter of
 * `@opentelemetry/api` implements it; an adapter for another library takes about ten lines. `Metered` is what the
 * parts of the library call while they are measured; `metered` makes it, so that only programs that import it contain it.
 */
import type { Observable, SchedulerLike } from 'rxjs';

/** Labels of one measurement. */
export type MetricAttributes = Readonly<Record<string, string>>;

/** The description and unit of an instrument. */
export interface MetricOptions {
  readonly description?: string | undefined;
  readonly unit?: string | undefined;
}

/** A sum that only increases (`Counter`), or that also decreases (`UpDownCounter`). */
export interface MetricCounter {
  add(value: number, attributes?: MetricAttributes): void;
}

/** A distribution of values. */
export interface MetricHistogram {
  record(value: number, attributes?: MetricAttributes): void;
}

/** Receives the values that a {@link GaugeCallback} observes. */
export interface GaugeResult {
  observe(value: number, attributes?: MetricAttributes): void;
}

/** Called whenever metrics are collected. */
export type GaugeCallback = (result: GaugeResult) => void;

/** A value that is read whenever metrics are collected. */
export interface MetricObservableGauge {
  addCallback(callback: GaugeCallback): void;
  removeCallback(callback: GaugeCallback): void;
}

/**
 * Creates instruments. `metrics.getMeter('my-controller')` of `@opentelemetry/api` is a provider.
 *
 * client-go: util/workqueue.MetricsProvider
 */
export interface MetricsProvider {
  createCounter(name: string, options?: MetricOptions): MetricCounter;
  createUpDownCounter(name: string, options?: MetricOptions): MetricCounter;
  createHistogram(name: string, options?: MetricOptions): MetricHistogram;
  createObservableGauge(name: string, options?: MetricOptions): MetricObservableGauge;
}

/** What `metered` reads of a controller. */
export interface MeasuredController {
  readonly name: string;
  /** How many keys are reconciled at the same time at most. */
  readonly concurrency: number;
  readonly controller: {
    readonly working: readonly string[];
    readonly status: { readonly unfinished: readonly string[]; readonly ended: readonly string[] };
  };
  /** The shards of a controller that has some. */
  readonly shards?: { readonly waiting: number } | undefined;
  /** Receives what the provider throws. */
  report(error: unknown): void;
}

/** What a reconciler returned. */
export interface MeasuredResult {
  readonly requeue?: boolean | undefined;
  readonly requeueAfterMs?: number | undefined;
}

/** How a reconcile ended: its result, its error, or neither if its Observable was unsubscribed. */
export interface MeasuredEnd {
  // biome-ignore lint/suspicious/noConfusingVoidType: a reconciler may return nothing at all
  readonly result?: MeasuredResult | undefined | void;
  readonly error?: unknown;
  readonly aborted?: true;
}

/** Measures one controller. */
export interface ReconcileFigures {
  /** Observes the gauges until `end`. */
  begin(): void;
  end(): void;
  reconciled(end: MeasuredEnd, tookMs: number): void;
}

/** What is read of a queue whenever metrics are collected. */
export interface MeasuredQueue {
  readonly unfinishedWorkSeconds: number;
  readonly longestRunningProcessorSeconds: number;
}

/** Receives what happens to the keys of one queue. */
export interface QueueInstruments {
  added(): void;
  retried(): void;
  got(queuedMs: number): void;
  dropped(count: number): void;
  done(workedMs: number): void;
  /** Releases the gauges. */
  close(): void;
}

/** An event of a request that is measured. */
export interface MeasuredEvent {
  readonly kind: string;
  readonly status?: number;
  readonly bytes?: Uint8Array;
}

/** Measures the events of a request from the moment at which they are subscribed. */
export type MeasureEvents = <E extends MeasuredEvent>(events: Observable<E>) => Observable<E>;

/** The slots of a member of a ring. */
export interface MeasuredSlots {
  readonly owned: readonly number[];
  readonly releasing: readonly number[];
  readonly members: readonly string[];
}

/** Counts what happens to the stored objects of one collection. */
export interface SnapshotFigures {
  /** A change was written. */
  written(): void;
  /** Nothing is written any more, or what was stored was not read. */
  notStored(reason: string): void;
}

/** What is read of a publisher whenever metrics are collected. */
export interface MeasuredPublisher {
  readonly sequence: number;
  readonly tooLarge: readonly unknown[];
  readonly unwritable: readonly unknown[];
  /** How long ago it last wrote, in milliseconds. Absent while another process writes. */
  readonly silentMs: number | undefined;
}

/**
 * The option `metrics` of informers, factories, clients, electors, members of a ring, controllers, queues, publishers and stores, which
 * `metered(provider)` makes. They call its members.
 */
export interface Metered {
  /** Measures an informer. */
  (port: never): void;
  /** Measures a queue. `report` receives what the provider throws. */
  queue(
    name: string,
    state: () => MeasuredQueue,
    report?: (error: unknown) => void,
  ): QueueInstruments;
  controller(of: MeasuredController): ReconcileFigures;
  /** Begins to measure a request that may have to wait. Call what it returns when the request is sent. */
  request(
    request: { readonly method: string; readonly use: string },
    scheduler: SchedulerLike,
  ): MeasureEvents;
  /** Observes whether this process leads, until the returned function is called. */
  lead(name: string, isLeading: () => boolean): () => void;
  /** Observes the slots of this process, until the returned function is called. */
  shards(name: string, read: () => MeasuredSlots): () => void;
  /** Measures the stored objects of an informer. `reasons` are those for which something is not stored. */
  snapshots(
    name: string,
    labels: MetricAttributes | undefined,
    reasons: readonly string[],
  ): SnapshotFigures;
  /** Observes a publisher, until the returned function is called. */
  publisher(labels: MetricAttributes, read: () => MeasuredPublisher): () => void;
}
