/**
 * Compares decoders over random chains of updates. `FUZZ_SEED=126` runs one chain, and `FUZZ_SEEDS=100000` that many.
 */
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { comparingStored } from '../../../lib/decode/differential/stored-difference.ts';
import { campaign, seedsOf } from '../../support/campaign.ts';
import { type Ran, runChain } from './chain.ts';

// As the transports for Node do.
comparingStored();

const FUZZ = { name: 'FUZZ', seeds: 1_000, command: 'npm run test:fuzz' };
const CHAINS = seedsOf('FUZZ', FUZZ.seeds).length;

/** Most chains are short, so that many begin anew. In each step a body of up to four lines or ten items is decoded. */
const stepsOf = (seed: number) => (seed % 20 === 0 ? 100 : 6);

it(`D6, D16, D17, D18: over ${CHAINS} chains, the difference to earlier texts gives what JSON.parse gives`, async () => {
  const startedMs = performance.now();
  const sum: Ran = { compared: 0, parsed: 0, unchanged: 0 };
  let chains = 0;
  const { wrong } = await campaign(FUZZ, async (seed) => {
    // The reporter needs a turn now and then.
    if (++chains % 100 === 0) await setImmediate();
    const ran = runChain(seed, stepsOf(seed));
    for (const way of ['compared', 'parsed', 'unchanged'] as const) sum[way] += ran[way];
    return { wrong: [] };
  });
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  process.stdout.write(
    `${chains} chains in ${seconds} s: ${sum.compared + sum.parsed} documents, ` +
      `${sum.compared} of them compared with an earlier text, and ${sum.unchanged} stored objects not parsed; ` +
      `${wrong.length} went wrong\n`,
  );
  expect(wrong.join('\n\n')).toBe('');
  // Chains without comparisons would prove nothing.
  if (CHAINS >= 1000) expect(Math.min(sum.compared, sum.unchanged)).toBeGreaterThan(100);
});
