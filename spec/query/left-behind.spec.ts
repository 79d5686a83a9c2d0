/** What queries and groups that come and go leave behind. `heap.night.ts` weighs it. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Aggregate, liveGroupBy } from 'rx-informer';
import { config } from 'rxjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allReported } from '../support/errors.ts';
import { ComingsAndGoings } from './model/comings-and-goings.ts';
import { type Item, World } from './world.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

// The functions that throw are reported, because no view shows what they refused.
beforeAll(() => {
  config.onUnhandledError = () => undefined;
});
afterAll(async () => {
  await allReported();
  config.onUnhandledError = null;
});

it('Q77: queries that come and go leave no timers behind', () => {
  const queries = new ComingsAndGoings(7);
  queries.run(5_000);
  expect(queries.queries).toBeGreaterThan(100);
  expect(queries.sets).toBeGreaterThan(5_000);
  queries.end();
  expect(queries.timers).toBe(0);
});

it('Q30: a group that has lost its last row leaves nothing behind', async () => {
  const states: WeakRef<object>[] = [];
  const members: Aggregate<Item, number, Item, { n: number }> = {
    initial: () => {
      const state = { n: 0 };
      states.push(new WeakRef(state));
      return state;
    },
    add: (state) => Object.assign(state, { n: state.n + 1 }),
    remove: (state) => Object.assign(state, { n: state.n - 1 }),
    result: ({ n }) => n,
  };
  const world = new World();
  const groups = world.changes$.pipe(liveGroupBy(({ group }) => group, { members }));
  const subscription = groups.subscribe();
  for (let at = 0; at < 20; at++) {
    const row = { name: 'x', n: 1, group: `g${at}` };
    world.commit([{ ...row, what: 'set' }]);
    world.commit([{ ...row, what: 'delete' }]);
  }
  // Weak references are cleared between turns of the event loop.
  for (let round = 0; round < 20 && states.some((state) => state.deref() !== undefined); round++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  expect(states.length).toBe(20);
  expect(states.filter((state) => state.deref() !== undefined)).toEqual([]);
  subscription.unsubscribe();
});
