/**
 * Compares decoders over random chains of updates. `FUZZ_SEED=126` runs one chain, and `FUZZ_CHAINS=100000` that many.
 */
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { comparingStored } from '../../../lib/decode/differential/stored-difference.ts';
import { type Ran, runChain } from './chain.ts';

// As the transports for Node do.
comparingStored();

const { FUZZ_SEED, FUZZ_CHAINS = '1000' } = process.env;
const FIRST = Number(FUZZ_SEED ?? 1);
const CHAINS = FUZZ_SEED === undefined ? Number(FUZZ_CHAINS) : 1;
/** More failures are not reported. */
const MOST_FAILURES = 5;

/** Most chains are short, so that many begin anew. In each step a body of up to four lines or ten items is decoded. */
const stepsOf = (seed: number) => (seed % 20 === 0 ? 100 : 6);

it(`D6, D16, D17, D18: over ${CHAINS} chains, the difference to earlier texts gives what JSON.parse gives`, async () => {
  const startedMs = performance.now();
  const sum: Ran = { compared: 0, parsed: 0, unchanged: 0 };
  const failures: string[] = [];
  let chains = 0;
  for (; chains < CHAINS && failures.length < MOST_FAILURES; chains++) {
    const seed = FIRST + chains;
    try {
      const ran = runChain(seed, stepsOf(seed));
      for (const way of ['compared', 'parsed', 'unchanged'] as const) sum[way] += ran[way];
    } catch (error) {
      const replay = `FUZZ_SEED=${seed} npm run test:fuzz`;
      failures.push(
        `seed ${seed}; replay: ${replay}\n${error instanceof Error ? error.stack : error}`,
      );
    }
    // The reporter needs a turn now and then.
    if (chains % 100 === 99) await setImmediate();
  }
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  process.stdout.write(
    `${chains} chains from seed ${FIRST} in ${seconds} s: ${sum.compared + sum.parsed} documents, ` +
      `${sum.compared} of them compared with an earlier text, and ${sum.unchanged} stored objects not parsed; ` +
      `${failures.length} went wrong\n`,
  );
  expect(failures.join('\n\n')).toBe('');
  // Chains without comparisons would prove nothing.
  if (CHAINS >= 1000) expect(Math.min(sum.compared, sum.unchanged)).toBeGreaterThan(100);
});
