/** The suite of all ListerWatchers, for those that read an API server, and the suite itself: each scenario fails with one that breaks its law. */

import { describe, expect, it } from 'vitest';
import { fakeWorld, KINDS } from './fake-world.ts';
import { MUTANTS } from './mutants.ts';
import type { Scenario } from './scenario.ts';
import { listerWatcherSuite, scenarios } from './suite.ts';
import { checkViolations } from './world.ts';

for (const [name, kind] of Object.entries(KINDS)) listerWatcherSuite(name, () => fakeWorld(kind));

const all: [title: string, scenario: Scenario][] = [];
scenarios((title, scenario) => all.push([title, scenario]));

describe('the suite of ListerWatchers', () => {
  it('has a mutant for each scenario', () => {
    const hasMutant = (title: string) => MUTANTS.some(([start]) => title.startsWith(start));
    expect(all.map(([title]) => title).filter((title) => !hasMutant(title))).toEqual([]);
  });

  it.each(MUTANTS)('notices a ListerWatcher that breaks %s: %s', async (start, _fault, mutant) => {
    const [own, ...others] = all.filter(([title]) => title.startsWith(start));
    const kind = KINDS['createListWatch'];
    if (own === undefined || others.length > 0 || kind === undefined) {
      throw new Error(`${start}: one scenario must begin with it`);
    }
    const [, scenario] = own;
    const world = fakeWorld({
      ...kind,
      make: (client, options) => mutant(kind.make(client, options)),
    });
    const run = scenario({ ...world, patienceMs: 3_000 }).then(() => checkViolations(world));
    await expect(run).rejects.toThrow();
    await world.close();
  });
});
