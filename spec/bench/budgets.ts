/** The budgets of rx-informer, as ratios to the floor of the same run. */
import type { Measurement } from './contestants/result.ts';
import type { Measured } from './measure.ts';
import { type Figure, figureOf } from './report.ts';

interface Budget {
  readonly contestant: string;
  readonly title: string;
  readonly measurement: Measurement;
  readonly figure: Figure;
  /** The contestant and the figure to compare with. Default: the same figure of the floor. */
  readonly beside?: string;
  readonly besideFigure?: Figure;
  /** An upper or a lower limit of the ratio. */
  readonly most?: number;
  readonly least?: number;
}

const ours = { contestant: 'ours' } as const;
const perSecond = { figure: 'eventsPerSecond' } as const;

const budgets: readonly Budget[] = [
  { ...ours, title: 'sync', measurement: 'sync', figure: 'syncMs', most: 1 },
  { ...ours, title: 'settled memory', measurement: 'sync', figure: 'rssSettledMb', most: 0.8 },
  {
    ...ours,
    title: 'peak of the first list, to settled',
    measurement: 'sync',
    figure: 'rssSyncPeakMb',
    beside: 'ours',
    besideFigure: 'rssSettledMb',
    most: 1.3,
  },
  { ...ours, ...perSecond, title: 'hot firehose', measurement: 'hot', least: 1.2 },
  {
    ...ours,
    ...perSecond,
    title: 'spread firehose',
    measurement: 'spread',
    beside: 'client-node',
    least: 1,
  },
  {
    ...perSecond,
    contestant: 'ours-new',
    title: 'spread firehose',
    measurement: 'spread',
    least: 1,
  },
  { ...ours, title: 'peak, hot', measurement: 'hot', figure: 'rssPeakMb', most: 0.75 },
  { ...ours, title: 'peak, spread', measurement: 'spread', figure: 'rssPeakMb', most: 0.75 },
  { ...ours, title: 'median latency', measurement: 'latency', figure: 'p50us', most: 1.25 },
  { ...ours, title: 'p99 latency', measurement: 'latency', figure: 'p99us', most: 0.7 },
  ...(['hot', 'spread'] as const).map((measurement) => ({
    ...perSecond,
    contestant: 'ours-idle',
    title: `ten idle subscribers, ${measurement}`,
    measurement,
    beside: 'ours',
    least: 0.95,
  })),
];

/** One line per budget whose contestants took part, and whether it is met. */
export function budgetLines(
  results: ReadonlyMap<string, readonly Measured[]>,
): { readonly text: string; readonly met: boolean }[] {
  const medianOf = (name: string, measurement: Measurement, figure: Figure) => {
    const runs =
      measurement === 'sync'
        ? [...results].flatMap(([key, some]) => (key.startsWith(`${name} `) ? some : []))
        : (results.get(`${name} ${measurement}`) ?? []);
    return figureOf(runs, figure)?.median;
  };
  return budgets.flatMap((budget) => {
    const { contestant, title, measurement, figure, most, least } = budget;
    const { beside = 'floor', besideFigure = figure } = budget;
    const own = medianOf(contestant, measurement, figure);
    const other = medianOf(beside, measurement, besideFigure);
    if (own === undefined || other === undefined) return [];
    const ratio = own / other;
    const met = most !== undefined ? ratio <= most : ratio >= (least ?? 0);
    const bound = most !== undefined ? `≤ ${most}` : `≥ ${least}`;
    const text = `budget: ${contestant}, ${title} ${bound} × ${beside}: ${ratio.toFixed(2)} × ${met ? 'met' : 'MISSED'}`;
    return [{ text, met }];
  });
}
