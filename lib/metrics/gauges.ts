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

/** A gauge with the series that the last collection saw. */
interface Observed {
  readonly gauge: MetricObservableGauge;
  readonly callback: GaugeCallback;
  seen: readonly MetricAttributes[];
  /** Observes 0 once. */
  rest?: GaugeCallback | undefined;
}

/**
 * The gauges of one subject, with its labels. When it ends, the next collection sees 0 in its series, because the SDK of OpenTelemetry
 * repeats the last value of a series that is not observed any more: a process that was stopped while it led would lead for ever.
 */
export class Gauges {
  readonly #gauges: Observed[];
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
    this.#gauges = rows.map(([name, description, read]) => {
      const unit = name.endsWith('_seconds') && { unit: 's' };
      const observed: Observed = {
        gauge: provider.createObservableGauge(name, { description, ...unit }),
        seen: [],
        callback: (result) => {
          const value = read();
          const series = typeof value === 'number' ? [[{}, value] as const] : value;
          observed.seen = series.map(([more]) => ({ ...labels, ...more }));
          for (const [at, [, of]] of series.entries()) result.observe(of, observed.seen[at]);
        },
      };
      return observed;
    });
  }

  begin(): void {
    this.#isObserved = true;
    for (const each of this.#gauges) {
      this.#unrest(each);
      this.#safely(() => each.gauge.addCallback(each.callback));
    }
  }

  end(): void {
    if (!this.#isObserved) return;
    this.#isObserved = false;
    for (const each of this.#gauges) {
      this.#safely(() => each.gauge.removeCallback(each.callback));
      this.#rest(each);
    }
  }

  #rest(each: Observed): void {
    const { gauge, seen } = each;
    each.seen = [];
    // A collection that saw nothing has nothing to forget, and without collections nothing is kept.
    if (seen.length === 0) return;
    each.rest = (result) => {
      for (const of of seen) result.observe(0, of);
      // Not now, because the SDK iterates over its callbacks.
      void Promise.resolve().then(() => this.#unrest(each));
    };
    const { rest } = each;
    this.#safely(() => gauge.addCallback(rest));
  }

  #unrest(each: Observed): void {
    const { gauge, rest } = each;
    each.rest = undefined;
    if (rest !== undefined) this.#safely(() => gauge.removeCallback(rest));
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
