/** Medians, their ratios to the floor, and the tables of the benchmark. */
import type { Figures, Measurement, Result } from './contestants/result.ts';

/** The name of a figure. */
export type Figure = keyof Figures;

interface Column {
  readonly figure: Figure;
  readonly title: string;
  readonly digits?: number;
  /** Divides the figure, for example to print thousands. */
  readonly unit?: number;
}

/** The figures that each measurement prints, besides those of the first list. */
const columns: Readonly<Record<Measurement, readonly Column[]>> = {
  sync: [
    { figure: 'syncMs', title: 'sync ms' },
    { figure: 'syncCpuMs', title: 'CPU ms' },
    { figure: 'rssBaseMb', title: 'base MB' },
    { figure: 'rssSettledMb', title: 'settled MB' },
    { figure: 'rssSyncPeakMb', title: 'peak MB' },
  ],
  hot: eventColumns(),
  spread: eventColumns(),
  latency: [
    { figure: 'p50us', title: 'p50 µs' },
    { figure: 'p99us', title: 'p99 µs' },
    { figure: 'eventsPerCpuSecond', title: 'k events/CPU s', unit: 1000, digits: 1 },
  ],
};

function eventColumns(): readonly Column[] {
  return [
    { figure: 'eventsPerSecond', title: 'k events/s', unit: 1000, digits: 1 },
    { figure: 'eventsPerCpuSecond', title: 'k events/CPU s', unit: 1000, digits: 1 },
    { figure: 'allocatedPerEvent', title: 'bytes allocated/event' },
    { figure: 'gcUsPerEvent', title: 'GC µs/event', digits: 1 },
    { figure: 'rssPeakMb', title: 'peak MB' },
  ];
}

/** The median, the least and the greatest of some runs. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly greatest: number;
}

/** The median of numbers with the least and the greatest. `NaN` if there are none. */
export function spreadOf(numbers: readonly number[]): Spread {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  const median = sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
  return { median, least: sorted[0] ?? Number.NaN, greatest: sorted.at(-1) ?? Number.NaN };
}

/** A figure over some runs, or `undefined` if no run has it. */
export function figureOf(runs: readonly Result[], figure: Figure): Spread | undefined {
  const numbers = runs.flatMap((run) => run[figure] ?? []);
  return numbers.length === 0 ? undefined : spreadOf(numbers);
}

function cell(runs: readonly Result[], floor: readonly Result[], column: Column): string {
  const { figure, unit = 1, digits = 0 } = column;
  const own = figureOf(runs, figure);
  if (own === undefined) return '–';
  const shown = (value: number) => (value / unit).toFixed(digits);
  const text = `${shown(own.median)} (${shown(own.least)}–${shown(own.greatest)})`;
  const ratio = own.median / (figureOf(floor, figure)?.median ?? Number.NaN);
  return Number.isNaN(ratio) ? text : `${text} ${ratio.toFixed(2)}×`;
}

function lines(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const padded = rows.map((row) =>
    row.map((each, at) =>
      at === 0 ? each.padEnd(widths?.[0] ?? 0) : each.padStart(widths?.[at] ?? 0),
    ),
  );
  return `${padded.map((row) => row.join('  ').trimEnd()).join('\n')}\n\n`;
}

/**
 * The tables: one for the first list, which every process makes, and one per measurement of events. The keys of
 * `results` are a contestant and a measurement, as in `ours hot`.
 */
export function report(
  contestants: readonly string[],
  measurements: readonly Measurement[],
  results: ReadonlyMap<string, readonly Result[]>,
): string {
  const runsOf = (name: string, of: readonly Measurement[]) =>
    of.flatMap((measurement) => results.get(`${name} ${measurement}`) ?? []);
  const table = (measurement: Measurement, of: readonly Measurement[]) => {
    const used = columns[measurement];
    const floor = runsOf('floor', of);
    const rows = contestants
      .map((name) => [name, runsOf(name, of)] as const)
      .filter(([, runs]) => runs.length > 0)
      .map(([name, runs]) => [name, ...used.map((column) => cell(runs, floor, column))]);
    return lines([[measurement, ...used.map(({ title }) => title)], ...rows]);
  };
  const others = measurements.filter((measurement) => measurement !== 'sync');
  const tables = [table('sync', measurements), ...others.map((each) => table(each, [each]))];
  return tables.join('') + extras(results);
}

/** The further figures of contestants, as medians. */
function extras(results: ReadonlyMap<string, readonly Result[]>): string {
  let text = '';
  for (const [key, runs] of results) {
    const names = new Set(runs.flatMap(({ extra }) => Object.keys(extra ?? {})));
    for (const name of names) {
      const { median } = spreadOf(runs.flatMap(({ extra }) => extra?.[name] ?? []));
      text += `${key}: ${name} ${Number(median.toPrecision(4))}\n`;
    }
  }
  return text;
}
