/**
 * The suite that every ListerWatcher must pass, whatever is behind it: an API server, lists that are repeated, or a
 * message broker.
 */
import { describe, it } from 'vitest';
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
 * closed after it. Scenarios that cannot apply by the traits of the world are skipped.
 */
export function listerWatcherSuite(name: string, makeWorld: () => World | Promise<World>): void {
  describe(name, () => {
    scenarios((title, scenario, needs = () => true) => {
      it(title, async (context) => {
        const world = await makeWorld();
        try {
          if (!needs(world.traits)) return context.skip();
          await scenario(world);
          checkViolations(world);
        } finally {
          await world.close();
        }
      });
    });
  });
}
