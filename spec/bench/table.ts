/** Computes the medians, the table and the budgets of a benchmark. */
import type { Result } from './contestant.ts';

type Measure = keyof Result;

const columns: readonly { measure: Measure; title: string }[] = [
  { measure: 'syncMs', title: 'sync ms' },
  { measure: 'cpuMs', title: 'cpu ms' },
  { measure: 'eventsPerSecond', title: 'events/s' },
  { measure: 'rssBaseMb', title: 'base MB' },
  { measure: 'rssSettledMb', title: 'settled MB' },
  { measure: 'rssPeakMb', title: 'peak MB' },
  { measure: 'p50us', title: 'p50 µs' },
  { measure: 'p99us', title: 'p99 µs' },
];

/** The budgets of rx-informer as ratios to the floor: `most` is an upper limit, `least` a lower one. */
const budgets: readonly { measure: Measure; title: string; most?: number; least?: number }[] = [
  { measure: 'syncMs', title: 'sync', most: 1.15 },
  { measure: 'rssSettledMb', title: 'settled memory', most: 1.15 },
  { measure: 'eventsPerSecond', title: 'events per second', least: 1 / 1.15 },
];

/** The median of each measure separately. */
export function median(runs: readonly Result[]): Result {
  const of = (measure: Measure) => {
    const sorted = runs.map((run) => run[measure]).sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    const upper = sorted[middle] ?? Number.NaN;
    return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
  };
  return Object.fromEntries(
    columns.map(({ measure }) => [measure, of(measure)]),
  ) as unknown as Result;
}

/** One row per contestant, each figure with its ratio to the floor if the floor was measured. */
export function table(medians: ReadonlyMap<string, Result>): string {
  const floor = medians.get('floor');
  const rows = [['', ...columns.map(({ title }) => title)]];
  for (const [name, result] of medians) {
    const cells = columns.map(({ measure }) => {
      const ratio =
        floor === undefined ? '' : ` (${(result[measure] / floor[measure]).toFixed(2)}×)`;
      return `${result[measure].toFixed(0)}${ratio}`;
    });
    rows.push([name, ...cells]);
  }
  const widths =
    rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
  const line = (row: readonly string[]) =>
    row.map((cell, at) =>
      at === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[at] ?? 0),
    );
  return `${rows.map((row) => line(row).join('  ').trimEnd()).join('\n')}\n\n`;
}

/** One line per budget, and whether it is met. */
export function budgetLines(
  medians: ReadonlyMap<string, Result>,
): { readonly text: string; readonly kept: boolean }[] {
  const [floor, ours] = [medians.get('floor'), medians.get('ours')];
  if (floor === undefined || ours === undefined) return [];
  return budgets.map(({ measure, title, most, least }) => {
    const ratio = ours[measure] / floor[measure];
    const kept = most !== undefined ? ratio <= most : ratio >= (least ?? 0);
    const bound = most !== undefined ? `≤ ${most}` : `≥ ${least?.toFixed(2)}`;
    const text = `budget: ${title} ${bound} × floor: ${ratio.toFixed(2)} × ${kept ? 'kept' : 'MISSED'}`;
    return { text, kept };
  });
}
