/** What queries that come and go leave behind. The soak test does the same over a million events. */
import { type Aggregate, liveGroupBy } from 'rx-informer';
import { config } from 'rxjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { heapMb } from '../soak/heap.ts';
import { ComingsAndGoings } from './model/comings-and-goings.ts';
import { type Item, World } from './world.ts';

// The functions that throw are reported, because no view shows what they refused.
beforeAll(() => {
  config.onUnhandledError = () => undefined;
});
afterAll(() => {
  config.onUnhandledError = null;
});

it('Q80: queries that come and go leave neither memory nor timers behind', async () => {
  const queries = new ComingsAndGoings(7);
  queries.run(2_000);
  const early = await heapMb();
  queries.run(18_000);
  const late = await heapMb();
  expect(queries.queries).toBeGreaterThan(400);
  expect(queries.sets).toBeGreaterThan(20_000);
  expect(late).toBeLessThan(early * 1.05);
  queries.end();
  expect(queries.timers).toBe(0);
}, 60_000);

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
  await heapMb();
  expect(states.length).toBe(20);
  expect(states.filter((state) => state.deref() !== undefined)).toEqual([]);
  subscription.unsubscribe();
});
