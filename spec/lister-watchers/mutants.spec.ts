/** Tests of the suite itself: each scenario fails with a ListerWatcher that breaks its law. */
import { describe, expect, it } from 'vitest';
import { fakeWorld, KINDS } from './fake-world.ts';
import { MUTANTS } from './mutants.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './suite.ts';
import { checkViolations } from './world.ts';

const byLaw = new Map<string, Scenario>();
scenarios((title, scenario) => byLaw.set(title.slice(0, title.indexOf(':')), scenario));

describe('the suite of ListerWatchers', () => {
  it('has a mutant for each scenario', () => {
    expect([...byLaw.keys()].sort()).toEqual([...new Set(MUTANTS.map(([law]) => law))].sort());
  });

  it.each(MUTANTS)('notices a ListerWatcher that breaks %s: %s', async (law, _fault, mutant) => {
    const scenario = byLaw.get(law);
    const kind = KINDS['createListWatch'];
    if (scenario === undefined || kind === undefined) throw new Error(`no scenario for ${law}`);
    const world = fakeWorld({
      ...kind,
      make: (client, options) => mutant(kind.make(client, options)),
    });
    const run = scenario({ ...world, patienceMs: 3_000 }).then(() => checkViolations(world));
    await expect(run).rejects.toThrow();
    await world.close();
  });
});
