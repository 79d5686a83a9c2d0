/**
 * The suite that every ListerWatcher must pass, whatever is behind it: an API server, lists that are repeated, or a
 * message broker.
 */
import { describe, expect, it } from 'vitest';
import { lists } from './lists.contract.ts';
import type { Register } from './scenario.ts';
import { informers, subscriptions } from './subscriptions.contract.ts';
import { watches } from './watches.contract.ts';
import { checkViolations, type World } from './world.ts';

/** Registers all scenarios. */
export function scenarios(register: Register): void {
  lists(register);
  watches(register);
  subscriptions(register);
  informers(register);
}

/**
 * Registers the suite of all ListerWatchers for one kind. `makeWorld` is called for each scenario, and the world is
 * closed after it. Scenarios that cannot apply by the traits of the world are skipped, with the reason.
 */
export function listerWatcherSuite(name: string, makeWorld: () => World | Promise<World>): void {
  describe(name, () => {
    scenarios((title, scenario, unless = () => false) => {
      it(title, async (context) => {
        const world = await makeWorld();
        try {
          const { watchList = true } = world.listerWatcher();
          expect(watchList !== false, 'the trait `streams`').toBe(world.traits.streams === true);
          const reason = unless(world.traits);
          if (reason !== false) return context.skip(reason);
          await scenario(world);
          checkViolations(world);
        } finally {
          await world.close();
        }
      });
    });
  });
}
