/** Gauges of one subject, which are observed while it runs. Nothing is measured between two collections. */
import type {
  GaugeCallback,
  MetricAttributes,
  MetricObservableGauge,
  MetricsProvider,
} from '../meta/metrics.ts';
import { reportingErrors } from '../rx/report-unhandled.ts';

/** The value of a gauge, or one for each value of a label. */
export type GaugeValue = number | readonly (readonly [attributes: MetricAttributes, number])[];

/** One gauge: its name, its description, and its present value. */
export type GaugeRow = readonly [name: string, description: string, read: () => GaugeValue];

/** Calls the provider, whose errors are reported. */
export type Safely = (act: () => void) => void;

/** Makes the function that calls the provider. */
export function safelyBy(report: ((error: unknown) => void) | undefined): Safely {
  return (act) => reportingErrors(act, report)();
}

/** What is made with the provider, or what does nothing if the provider throws. */
export function madeSafely<T>(safely: Safely, nothing: T, make: () => T): T {
  let made = nothing;
  safely(() => {
    made = make();
  });
  return made;
}

/** The gauges of one subject, with its labels. */
export class Gauges {
  readonly #gauges: { readonly gauge: MetricObservableGauge; readonly callback: GaugeCallback }[];
  readonly #safely: Safely;
  #isObserved = false;

  /** Throws what the provider throws. */
  constructor(
    provider: MetricsProvider,
    labels: MetricAttributes,
    rows: readonly GaugeRow[],
    safely: Safely,
  ) {
    this.#safely = safely;
    this.#gauges = rows.map(([name, description, read]) => ({
      gauge: provider.createObservableGauge(name, {
        description,
        ...(name.endsWith('_seconds') && { unit: 's' }),
      }),
      callback: (result) => {
        const value = read();
        if (typeof value === 'number') result.observe(value, labels);
        else for (const [more, of] of value) result.observe(of, { ...labels, ...more });
      },
    }));
  }

  begin(): void {
    this.#isObserved = true;
    for (const { gauge, callback } of this.#gauges) this.#safely(() => gauge.addCallback(callback));
  }

  end(): void {
    if (!this.#isObserved) return;
    this.#isObserved = false;
    for (const { gauge, callback } of this.#gauges)
      this.#safely(() => gauge.removeCallback(callback));
  }
}

/** Observes the gauges until the returned function is called. Without its instruments nothing is measured. */
export function observing(
  provider: MetricsProvider,
  safely: Safely,
  labels: MetricAttributes,
  rows: readonly GaugeRow[],
): () => void {
  const make = () => new Gauges(provider, labels, rows, safely);
  const gauges = madeSafely<Gauges | undefined>(safely, undefined, make);
  gauges?.begin();
  return () => gauges?.end();
}
