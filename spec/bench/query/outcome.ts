/** What a scenario of the benchmark is, and what it finds. */
import type { Timing } from './turns.ts';

/** How a scenario is run. */
export interface Effort {
  /** How many batches are measured. */
  readonly batches: number;
  /** Batches before them. */
  readonly warmUp: number;
  /** Whether contestants that need minutes take part. */
  readonly isLong: boolean;
}

/** A limit, and the figure that must keep to it. */
export interface Budget {
  readonly title: string;
  readonly limit: number;
  readonly figure: number;
  readonly unit: 'ms' | '×' | 'MB';
  /** Whether the limit is the least allowed, not the most. @defaultValue false */
  readonly isLeast?: boolean;
}

/** The figures of one question. */
export interface Outcome {
  readonly title: string;
  /** Ours is the first. */
  readonly timings: readonly Timing[];
  readonly budgets: readonly Budget[];
}

export type Scenario = (effort: Effort) => Promise<readonly Outcome[]>;

export const OURS = 'rx-informer';

/** How many times as long as another contestant ours takes. */
export function ratio(timings: readonly Timing[], name: string): number {
  const median = (of: string) => timings.find((each) => each.name === of)?.median ?? Number.NaN;
  return median(OURS) / median(name);
}

export function isMet({ figure, limit, isLeast }: Budget): boolean {
  return isLeast === true ? figure >= limit : figure <= limit;
}
