/** Compares what we and Go's packages take texts for: selectors, quantities, proxies, names and keys. */
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { replayOf, seedsOf } from '../../support/campaign.ts';
import { ClientGo } from '../client-go.ts';
import { diceOf } from '../dice.ts';
import { keys, names } from './names.ts';
import { proxies } from './proxies.ts';
import { quantities } from './quantities.ts';
import { fieldSelectors, labelSelectors } from './selectors.ts';
import { agree, type Compared, type Subject } from './subject.ts';

/** The number of seeds of each subject, and of cases of each seed. */
const SEEDS = 50;
const CASES = 1_000;
/** How many differences of a seed are shown. */
const MOST_SHOWN = 5;

interface Answers {
  readonly seed: number;
  readonly results: readonly unknown[];
}

// biome-ignore lint/suspicious/noExplicitAny: each subject has its own types, which only its own functions see.
const SUBJECTS: readonly Subject<any, any>[] = [
  labelSelectors,
  fieldSelectors,
  quantities,
  proxies,
  names,
  keys,
];

let clientGo: ClientGo<Answers>;
beforeAll(() => {
  clientGo = new ClientGo(inject('oracle'), 'texts');
});
afterAll(() => clientGo.close());

/** The counts of a subject. */
interface Tally {
  cases: number;
  accepted: number;
  /** The answers within the accepted ones, and how many of them are true. */
  answers: number;
  positive: number;
  readonly explained: Map<string, number>;
}

const percent = (share: number) => `${(100 * share).toFixed(0)}%`;
const shown = (value: unknown) =>
  inspect(value, { depth: 6, breakLength: 200, maxStringLength: 400 });

async function compare(
  subject: Subject<unknown, unknown>,
  seed: number,
  tally: Tally,
): Promise<readonly string[]> {
  const dice = diceOf(seed, subject.name.length);
  const cases = Array.from({ length: CASES }, () => {
    const given = subject.caseOf(dice);
    return { given, ours: subject.ours(given) };
  });
  const answered = clientGo.answer(seed);
  clientGo.send({
    seed,
    subject: subject.name,
    cases: cases.map(({ given, ours }) => subject.question?.(given, ours) ?? given),
  });
  const { results } = await answered;
  expect(results).toHaveLength(cases.length);
  return cases.flatMap(({ given, ours }, at) => {
    const compared: Compared = { given, ours, theirs: subject.theirs(results[at], given) };
    tally.cases++;
    if (compared.theirs.refused === undefined) {
      const balance = subject.balance?.(compared.theirs.value) ?? [];
      tally.accepted++;
      tally.answers += balance.length;
      tally.positive += balance.filter(Boolean).length;
    }
    if (agree(compared, subject.sameReasons)) return [];
    const known = subject.differences.find((each) => each.explains(compared));
    if (known === undefined) return [shown(compared)];
    tally.explained.set(known.name, (tally.explained.get(known.name) ?? 0) + 1);
    return [];
  });
}

describe.each(SUBJECTS.map((subject) => ({ subject, name: subject.name })))(
  'a $name beside Go',
  ({ subject }) => {
    const tally: Tally = { cases: 0, accepted: 0, answers: 0, positive: 0, explained: new Map() };

    it.each(seedsOf('ORACLE', SEEDS))('O5: seed %i', async (seed) => {
      const different = await compare(subject, seed, tally);
      const hint = `${subject.name}: ${replayOf('ORACLE', seed, 'npm run test:oracle')}`;
      expect(different.slice(0, MOST_SHOWN), `${different.length} differ; ${hint}`).toEqual([]);
    });

    // A single seed cannot reach every case.
    it.skipIf(seedsOf('ORACLE', SEEDS).length < SEEDS)(
      'O5: the seeds reach what they are meant to reach',
      () => {
        const { cases, accepted, answers, positive, explained } = tally;
        const share = accepted / cases;
        const balance = answers === 0 ? 0.5 : positive / answers;
        const differ = [...explained.values()].reduce((sum, count) => sum + count, 0);
        process.stderr.write(
          `${subject.name}: ${cases} cases, ${percent(share)} accepted, ${percent(balance)} positive, explained: ${JSON.stringify(Object.fromEntries(explained))}\n`,
        );
        expect(cases).toBeGreaterThanOrEqual(SEEDS * CASES);
        expect(share).toBeGreaterThan(0.3);
        expect(share).toBeLessThan(0.99);
        expect(balance).toBeGreaterThan(0.15);
        expect(balance).toBeLessThan(0.8);
        expect(differ / cases).toBeLessThan(0.06);
        // A reason that no case needs is out of date.
        const reasons = subject.differences.map(({ name }) => name);
        expect([...explained.keys()].sort()).toEqual([...reasons].sort());
      },
    );
  },
);
