/** A metrics library that keeps what it is told, and is scraped like OpenTelemetry's Prometheus exporter. */
import type { GaugeCallback, MetricAttributes, MetricOptions, MetricsProvider } from 'rx-informer';

/** An instrument as the library created it. */
export interface RecordedInstrument {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly unit: string;
  readonly description: string;
  /** The names of the labels of its series. */
  readonly labels: ReadonlySet<string>;
}

interface Instrument extends RecordedInstrument {
  readonly labels: Set<string>;
  readonly values: Map<string, number>;
  readonly callbacks: Set<GaugeCallback>;
}

export interface RecordedMetrics {
  readonly provider: MetricsProvider;
  readonly instruments: ReadonlyMap<string, RecordedInstrument>;
  /** How many callbacks of gauges are registered. */
  readonly observed: number;
  /** The values of all series, by texts such as `informer_objects{name="pods"}`. Of a histogram, its count and its sum. */
  scrape(): Readonly<Record<string, number>>;
}

function seriesOf(name: string, attributes: MetricAttributes): string {
  const labels = Object.entries(attributes).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `${name}{${labels.map(([label, value]) => `${label}="${value}"`).join(',')}}`;
}

export function recordedMetrics(): RecordedMetrics {
  const instruments = new Map<string, Instrument>();
  const create =
    (kind: Instrument['kind']) =>
    (name: string, { unit = '', description = '' }: MetricOptions = {}) => {
      const made: Instrument = instruments.get(name) ?? {
        ...{ kind, unit, description },
        ...{ labels: new Set(), values: new Map(), callbacks: new Set() },
      };
      instruments.set(name, made);
      const grow = (suffix: string, by: number, attributes: MetricAttributes = {}) => {
        for (const label of Object.keys(attributes)) made.labels.add(label);
        const series = seriesOf(`${name}${suffix}`, attributes);
        made.values.set(series, (made.values.get(series) ?? 0) + by);
      };
      return {
        add: (value: number, attributes?: MetricAttributes) => grow('', value, attributes),
        record(value: number, attributes?: MetricAttributes) {
          grow('_count', 1, attributes);
          grow('_sum', value, attributes);
        },
        addCallback: (callback: GaugeCallback) => made.callbacks.add(callback),
        removeCallback: (callback: GaugeCallback) => made.callbacks.delete(callback),
      };
    };
  return {
    provider: {
      createCounter: create('counter'),
      createUpDownCounter: create('gauge'),
      createHistogram: create('histogram'),
      createObservableGauge: create('gauge'),
    },
    instruments,
    get observed() {
      return [...instruments.values()].reduce((sum, { callbacks }) => sum + callbacks.size, 0);
    },
    scrape() {
      const observed = new Map<string, number>();
      for (const [name, { labels, callbacks }] of instruments)
        for (const callback of callbacks)
          callback({
            observe(value, attributes = {}) {
              for (const label of Object.keys(attributes)) labels.add(label);
              observed.set(seriesOf(name, attributes), value);
            },
          });
      const kept = [...instruments.values()].flatMap(({ values }) => [...values]);
      return Object.fromEntries(
        [...kept, ...observed].toSorted(([one], [other]) => (one < other ? -1 : 1)),
      );
    },
  };
}
