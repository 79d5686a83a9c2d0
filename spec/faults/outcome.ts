/**
 * The outcome of a seed, and the selection of seeds: `FAULT_SEED=7` runs that seed, `FAULT_SEEDS=10000` that many.
 */
import type { Load } from './budget.ts';

export interface Outcome {
  readonly seed: number;
  readonly what: string;
  readonly wrong: readonly string[];
  readonly writes: number;
  readonly faults: readonly string[];
  readonly requests: number;
  readonly notified: number;
  /** The number of checked claims about the age of the rows. */
  readonly claims?: number;
  readonly load: Load;
}

/** The seeds of one share. */
export function seedsOf(fallback: number, share = 0, shares = 1): number[] {
  const { FAULT_SEED: one, FAULT_SEEDS: many } = process.env;
  if (one !== undefined) return share === 0 ? [Number(one)] : [];
  const count = many === undefined ? fallback : Math.ceil((Number(many) * fallback) / 1000);
  return Array.from({ length: count }, (_, at) => at + 1).filter((seed) => seed % shares === share);
}

/** Describes the seeds that went wrong, and how to replay them. */
export function failures(outcomes: readonly Outcome[]): string {
  const bad = outcomes.filter(({ wrong }) => wrong.length > 0);
  const isReplay = process.env['FAULT_SEED'] !== undefined;
  return bad
    .slice(0, 5)
    .flatMap(({ seed, what, wrong, faults }) => [
      `seed ${seed} of ${bad.length} that went wrong (${what}); replay: FAULT_SEED=${seed} npm run test:faults`,
      ...(isReplay ? wrong : wrong.slice(0, 8)).map((each) => `  wrong: ${each}`),
      ...(isReplay ? faults : faults.slice(-10)).map((each) => `  fault: ${each}`),
    ])
    .join('\n');
}

/** The summary line of the log. */
export function summary(outcomes: readonly Outcome[], startedMs: number): string {
  const sum = (of: (outcome: Outcome) => number) =>
    outcomes.reduce((total, outcome) => total + of(outcome), 0);
  const most = (of: (outcome: Outcome) => number) => Math.max(0, ...outcomes.map(of));
  return [
    `${outcomes.length} seeds in ${Math.round((performance.now() - startedMs) / 1000)} s`,
    `${sum(({ writes }) => writes)} writes`,
    `${sum(({ faults }) => faults.length)} faults`,
    `${sum(({ requests }) => requests)} requests`,
    `${sum(({ notified }) => notified)} notifications`,
    `${sum(({ claims = 0 }) => claims)} claims about the age of rows`,
    `busiest minute ${most(({ load }) => load.reads)} reads, ${most(({ load }) => load.watches)} watches`,
    `${outcomes.filter(({ wrong }) => wrong.length > 0).length} went wrong`,
  ].join(', ');
}
