/** Runs a share of the seeds on virtual time. Each share is a file, so that the shares run in parallel. */
import { expect, it } from 'vitest';
import { playSeeds } from '../support/campaign.ts';
import { failures, type Outcome, seedsOfShare, summary } from './outcome.ts';
import { runVirtual } from './virtual-run.ts';

export function virtualShare(share: number, shares: number, sharded = false): void {
  const seeds = seedsOfShare(sharded ? 300 : 1000, share, shares);
  it.skipIf(seeds.length === 0)(
    `${seeds.length} seeds${sharded ? ' with moving shards' : ''} on virtual time end in the state of the server, with notifications in order and within the budget`,
    async () => {
      const startedMs = performance.now();
      const outcomes = await playSeeds(seeds, (seed) => runVirtual(seed, sharded));
      process.stdout.write(`share ${share + 1} of ${shares}: ${summary(outcomes, startedMs)}\n`);
      expect(failures(outcomes)).toBe('');
      // Runs without writes, faults or notifications would prove nothing.
      const mean = (of: (outcome: Outcome) => number) =>
        outcomes.reduce((sum, outcome) => sum + of(outcome), 0) / outcomes.length;
      if (outcomes.length < 100) return;
      expect(mean(({ writes }) => writes)).toBeGreaterThan(200);
      expect(mean(({ faults }) => faults.length)).toBeGreaterThan(30);
      expect(mean(({ notified }) => notified)).toBeGreaterThan(500);
      if (!sharded) expect(mean(({ claims = 0 }) => claims)).toBeGreaterThan(1);
    },
  );
}
