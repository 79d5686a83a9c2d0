/**
 * Random faults with a real nats-server: publishers are killed, the server is killed, its store is restored from an
 * older copy and purged, connections are cut and half-open, and the clock is set back. `NATS_SEEDS=n` runs n seeds of
 * each mood.
 */
import { describe, expect, it } from 'vitest';
import { seedsOf } from '../../support/campaign.ts';
import { runFaults } from './run-faults.ts';

const seeds = seedsOf('NATS', 2);

describe('a bucket under faults', () => {
  it.each(seeds)(
    'J7, J12, J5: publishers and servers that die lose nothing, and readers continue without a list (seed %i)',
    async (seed) => {
      const { mistakes, relists, sets, log } = await runFaults(seed, { losses: false });
      expect(mistakes.slice(0, 3), log.join('\n')).toEqual([]);
      expect(relists, log.join('\n')).toBe(0);
      expect(sets).toBeGreaterThan(3);
    },
  );

  it.each(seeds)(
    'J4, J6, J7: after restored stores and purges readers have the truth, and are told nothing twice (seed %i)',
    async (seed) => {
      const { mistakes, sets, log } = await runFaults(seed, { losses: true });
      expect(mistakes.slice(0, 3), log.join('\n')).toEqual([]);
      expect(sets).toBeGreaterThan(3);
    },
  );
});
