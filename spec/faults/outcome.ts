/**
 * The outcome of a seed, and the seeds of a share: `FAULT_SEED=7` runs that seed, `FAULT_SEEDS=10000` that many.
 */
import { isReplay, replayOf, seedsOf } from '../support/campaign.ts';
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
export function seedsOfShare(fallback: number, share = 0, shares = 1): number[] {
  if (isReplay('FAULT')) return share === 0 ? [...seedsOf('FAULT', 1)] : [];
  // The variable is the number of seeds of the largest campaign.
  const count = Math.ceil((seedsOf('FAULT', 1000).length * fallback) / 1000);
  return Array.from({ length: count }, (_, at) => at + 1).filter((seed) => seed % shares === share);
}

/** Describes the seeds that went wrong, and how to replay them. */
export function failures(outcomes: readonly Outcome[]): string {
  const bad = outcomes.filter(({ wrong }) => wrong.length > 0);
  return bad
    .slice(0, 5)
    .flatMap(({ seed, what, wrong, faults }) => [
      `${replayOf('FAULT', seed, 'npm run test:faults')} (${what}, one of ${bad.length})`,
      ...(isReplay('FAULT') ? wrong : wrong.slice(0, 8)).map((each) => `  wrong: ${each}`),
      ...(isReplay('FAULT') ? faults : faults.slice(-10)).map((each) => `  fault: ${each}`),
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
