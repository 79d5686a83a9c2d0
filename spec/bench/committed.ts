/** Compares the ratios of a short run with those committed beside the benchmark, so that CI notices a great loss. */
import type { Measurement } from './contestants/result.ts';
import { isNoisy, type Measured } from './measure.ts';
import { type Figure, figureOf } from './report.ts';

/** Ratios of `ours` to `floor` by name, as in `hot: eventsPerSecond`. */
export type Ratios = Readonly<Record<string, number>>;

interface Judged {
  readonly measurement: Measurement;
  readonly figure: Figure;
  readonly moreIsBetter: boolean;
}

/** Latencies are not compared, because their ratios differ by more than a third between runs on one machine. */
const judged: readonly Judged[] = [
  { measurement: 'sync', figure: 'syncCpuMs', moreIsBetter: false },
  { measurement: 'sync', figure: 'rssSettledMb', moreIsBetter: false },
  ...(['hot', 'spread'] as const).flatMap((measurement): Judged[] => [
    { measurement, figure: 'eventsPerSecond', moreIsBetter: true },
    { measurement, figure: 'eventsPerCpuSecond', moreIsBetter: true },
    { measurement, figure: 'allocatedPerEvent', moreIsBetter: false },
  ]),
];

/** Runs by contestant and measurement, as in `ours hot`. */
type Results = ReadonlyMap<string, readonly Measured[]>;

/** The runs that have the figures of a measurement. Every process begins with the first list. */
function runsOf(results: Results, name: string, measurement: Measurement): readonly Measured[] {
  if (measurement !== 'sync') return results.get(`${name} ${measurement}`) ?? [];
  return [...results].flatMap(([key, runs]) => (key.startsWith(`${name} `) ? runs : []));
}

/** The ratios of a run that can be compared. */
export function ratiosOf(results: Results): Ratios {
  return Object.fromEntries(
    judged.flatMap(({ measurement, figure }) => {
      const own = figureOf(runsOf(results, 'ours', measurement), figure);
      const floor = figureOf(runsOf(results, 'floor', measurement), figure);
      if (own === undefined || floor === undefined) return [];
      return [[`${measurement}: ${figure}`, Number((own.median / floor.median).toFixed(3))]];
    }),
  );
}

/** The comparison of one ratio. `lost` is set if it is worse by more than a third and the runs were quiet. */
export interface Comparison {
  readonly text: string;
  readonly lost: boolean;
}

/** Compares the ratios of a run with committed ones. A ratio is not judged if half of its processes were noisy. */
export function compare(results: Results, committed: Ratios): readonly Comparison[] {
  const now = ratiosOf(results);
  return judged.flatMap(({ measurement, figure, moreIsBetter }) => {
    const name = `${measurement}: ${figure}`;
    const [ratio, before] = [now[name], committed[name]];
    if (ratio === undefined || before === undefined) return [];
    const kept = moreIsBetter ? ratio / before : before / ratio;
    const runs = ['ours', 'floor'].flatMap((each) => runsOf(results, each, measurement));
    const noisy = runs.filter(isNoisy).length * 2 >= runs.length;
    const worse = kept < 2 / 3;
    const verdict = !worse ? 'kept' : noisy ? 'not judged, because the run was noisy' : 'LOST';
    const text = `${name} ${ratio.toFixed(2)} × the floor, committed ${before.toFixed(2)} ×: ${verdict}`;
    return [{ text, lost: worse && !noisy }];
  });
}

/** So many times more rounds are measured before a loss counts. */
const moreTimes = 3;

/**
 * Measures more rounds while a ratio is lost. Medians of the three rounds of a short run differ by a third between runs
 * of one commit, and those of more rounds do not, so only a loss that stays is one of the code.
 */
export async function repeatWhileLost(
  results: Results,
  committed: Ratios,
  runRounds: () => Promise<void>,
): Promise<void> {
  for (let time = 0; time < moreTimes; time++) {
    if (!compare(results, committed).some(({ lost }) => lost)) return;
    await runRounds();
  }
}
