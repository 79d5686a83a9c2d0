/**
 * The interface for metrics: the few members of OpenTelemetry's `Meter` that this library calls. A meter of
 * `@opentelemetry/api` implements it; an adapter for another library takes about ten lines.
 */

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
