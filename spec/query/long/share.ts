/**
 * A share of the long form: a million events over random pipelines. `QUERY_SEED=7` begins with that seed, with
 * `QUERY_PATH` it runs one scenario only, and `QUERY_EVENTS=10000000` runs that many events.
 */
import { config } from 'rxjs';
import { beforeAll, expect, it } from 'vitest';
import { replay, runScenarios } from '../model/property.ts';

const { QUERY_SEED, QUERY_PATH, QUERY_EVENTS } = process.env;
const EVENTS = Number(QUERY_EVENTS ?? 1_000_000);
/** Seeds of one share are consecutive, and far from those of the others. */
const SEEDS_A_SHARE = 100_000_000;

export function queryShare(share: number, shares: number): void {
  // The functions that throw are reported, because no view shows what they refused.
  beforeAll(() => {
    config.onUnhandledError = () => undefined;
  });

  it.skipIf(QUERY_PATH !== undefined && share > 0)(
    `the answers of random pipelines are the naive ones after each event, share ${share + 1} of ${shares}`,
    () => {
      const seed = Number(QUERY_SEED ?? Date.now() % SEEDS_A_SHARE) + share * SEEDS_A_SHARE;
      if (QUERY_PATH !== undefined) return replay(seed, QUERY_PATH);
      const startedMs = performance.now();
      const { events, pipelines } = runScenarios(Math.ceil(EVENTS / shares), seed);
      const seconds = Math.round((performance.now() - startedMs) / 1000);
      const counts = [...pipelines].map(([name, count]) => `${name} ${count}`).join(', ');
      process.stdout.write(
        `share ${share + 1} of ${shares}, seed ${seed}: ${events} events in ${seconds} s; pipelines with ${counts}\n`,
      );
      expect(Math.min(...pipelines.values())).toBeGreaterThan(0);
    },
  );
}
