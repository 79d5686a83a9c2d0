/**
 * The publisher's plan and the reader's fold, without a server: random changes and faults. What each reader is told,
 * folded, is what the API server had at each version at which the reader stands; versions never fall; nothing is told
 * twice; and in the end all readers have what the API server has. `NATS_SEEDS=n` runs n seeds of each combination.
 */
import { describe, expect, it } from 'vitest';
import { replayOf, seedsOf } from '../support/campaign.ts';
import { type Faults, runModel } from './model/run-model.ts';

const SEEDS = seedsOf('NATS', 60);

interface Outcome {
  readonly mistakes: readonly string[];
  readonly relists: number;
  readonly reasons: readonly string[];
  readonly sets: number;
}

function runAll(faults: Faults): Outcome {
  const runs = SEEDS.map((seed) => ({ seed, run: runModel(seed, faults) }));
  return {
    mistakes: runs.flatMap(({ seed, run }) =>
      run.mistakes.map((words) => `${replayOf('NATS', seed, 'spec/nats/model.spec.ts')}: ${words}`),
    ),
    relists: runs.reduce((sum, { run }) => sum + run.relists, 0),
    reasons: runs.flatMap(({ run }) => run.reasons),
    sets: runs.reduce((sum, { run }) => sum + run.sets, 0),
  };
}

const away = { sleep: true, lag: true } satisfies Faults;

describe('a bucket with faults', () => {
  it.each([
    ['nothing fails', {}],
    ['readers sleep', { sleep: true }],
    ['readers sleep and lag', away],
    ['publishers die within sets and lose answers', { deaths: true }],
    ['publishers die, and readers sleep and lag', { deaths: true, ...away }],
    ['two publishers write', { rivals: true }],
    ['two publishers write, and readers sleep and lag', { rivals: true, ...away }],
    ['objects are too large, and publishers die', { deaths: true, tooLarge: true, ...away }],
  ] satisfies [string, Faults][])(
    'J3, J5, J12: all readers continue without a list if %s',
    (_title, faults) => {
      const { mistakes, reasons, sets } = runAll(faults);
      expect(mistakes.slice(0, 5)).toEqual([]);
      expect([...new Set(reasons)]).toEqual([]);
      expect(sets).toBeGreaterThan(SEEDS.length * 4);
    },
  );

  it('J4, J5: a publisher that takes over within a set, with an older informer, may cause a list, but no mistake', () => {
    const { mistakes, reasons } = runAll({ deaths: true, rivals: true, ...away });
    expect(mistakes.slice(0, 5)).toEqual([]);
    expect(reasons.filter((why) => !why.includes('without a new epoch'))).toEqual([]);
  });

  it.each([
    ['the bucket is purged', { purges: true }, 'begun a new epoch'],
    ['the bucket is purged under two publishers', { purges: true, rivals: true }, 'new epoch'],
    ['the store is restored', { restores: true }, 'is not in the bucket'],
    ['the store is restored, and readers sleep', { restores: true, deaths: true, ...away }, 'lost'],
    ['deletions expire', { expiry: true, deaths: true, ...away }, 'have expired'],
    ['the API server goes back to a backup', { backups: true, ...away }, 'begun a new epoch'],
    [
      'everything fails',
      { deaths: true, rivals: true, purges: true, restores: true, expiry: true, tooLarge: true },
      'begun a new epoch',
    ],
    [
      'everything fails, and readers sleep and lag',
      { deaths: true, rivals: true, purges: true, restores: true, expiry: true, ...away },
      'messages were lost',
    ],
  ] satisfies [string, Faults, string][])(
    'J3, J4, J6, J7: a list shows readers the truth after a loss, and they are told of the difference once: %s',
    (_title, faults, why) => {
      const { mistakes, reasons, relists } = runAll(faults);
      expect(mistakes.slice(0, 5)).toEqual([]);
      expect(relists).toBeGreaterThan(0);
      expect(reasons.some((reason) => reason.includes(why))).toBe(true);
    },
  );
});
