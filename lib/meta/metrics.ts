/**
 * The port for metrics: the few members of OpenTelemetry's `Meter` that this library calls. A meter of
 * `@opentelemetry/api` is one as it stands; a user of another library writes ten lines.
 */

/** Labels of one measurement. */
export type MetricAttributes = Readonly<Record<string, string>>;

/** What an instrument is made with. */
export interface MetricOptions {
  readonly description?: string | undefined;
  readonly unit?: string | undefined;
}

/** A sum that only grows (`Counter`), or goes both ways (`UpDownCounter`). */
export interface MetricCounter {
  add(value: number, attributes?: MetricAttributes): void;
}

/** A distribution. */
export interface MetricHistogram {
  record(value: number, attributes?: MetricAttributes): void;
}

/** Where a {@link GaugeCallback} puts what it saw. */
export interface GaugeResult {
  observe(value: number, attributes?: MetricAttributes): void;
}

/** Called at each collection. */
export type GaugeCallback = (result: GaugeResult) => void;

/** A value that is asked for when metrics are collected. */
export interface MetricObservableGauge {
  addCallback(callback: GaugeCallback): void;
  removeCallback(callback: GaugeCallback): void;
}

/**
 * Makes instruments. `metrics.getMeter('my-controller')` of `@opentelemetry/api` is one.
 *
 * client-go: util/workqueue.MetricsProvider
 */
export interface MetricsProvider {
  createCounter(name: string, options?: MetricOptions): MetricCounter;
  createUpDownCounter(name: string, options?: MetricOptions): MetricCounter;
  createHistogram(name: string, options?: MetricOptions): MetricHistogram;
  createObservableGauge(name: string, options?: MetricOptions): MetricObservableGauge;
}
