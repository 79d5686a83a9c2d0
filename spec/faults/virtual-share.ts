/** A share of the seeds on virtual time: shares are files, so that they run beside each other. */
import { expect, it } from 'vitest';
import { failures, type Outcome, seedsOf, summary } from './outcome.ts';
import { runVirtual } from './virtual-run.ts';

export function virtualShare(share: number, shares: number): void {
  const seeds = seedsOf(1000, share, shares);
  it.skipIf(seeds.length === 0)(
    `${seeds.length} seeds on virtual time end as the server is, told in order, at a bearable cost`,
    async () => {
      const startedMs = performance.now();
      const outcomes: Outcome[] = [];
      for (const seed of seeds) outcomes.push(await runVirtual(seed));
      process.stdout.write(`share ${share + 1} of ${shares}: ${summary(outcomes, startedMs)}\n`);
      expect(failures(outcomes)).toBe('');
      // Runs in which nothing happened would prove nothing.
      const mean = (of: (outcome: Outcome) => number) =>
        outcomes.reduce((sum, outcome) => sum + of(outcome), 0) / outcomes.length;
      if (outcomes.length < 100) return;
      expect(mean(({ writes }) => writes)).toBeGreaterThan(200);
      expect(mean(({ faults }) => faults.length)).toBeGreaterThan(30);
      expect(mean(({ told }) => told)).toBeGreaterThan(500);
    },
  );
}
