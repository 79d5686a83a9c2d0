/** Random pipelines of live operators, compared with the naive answer after each change. */
import fc from 'fast-check';
import { config, VirtualTimeScheduler } from 'rxjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { Mirror } from './mirror.ts';
import { expectEqual, naiveOf } from './naive.ts';
import { type PipelineStep, type Sets, STEPS } from './steps.ts';
import { type Item, type Step, World } from './world.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'];
const step: fc.Arbitrary<Step> = fc.record({
  name: fc.constantFrom(...NAMES),
  what: fc.constantFrom('set', 'set', 'set', 'delete', 'recreate', 'again'),
  n: fc.nat(9),
  group: fc.constantFrom('a', 'b', 'c'),
});
const event = fc.oneof(
  { weight: 8, arbitrary: fc.array(step, { maxLength: 5 }).map((steps) => ({ steps })) },
  {
    weight: 1,
    arbitrary: fc
      .uniqueArray(fc.record({ name: fc.constantFrom(...NAMES), n: fc.nat(9) }), {
        selector: ({ name }) => name,
      })
      .map((reset) => ({ reset })),
  },
  { weight: 3, arbitrary: fc.record({ at: fc.nat(4), turn: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.boolean().map((synced) => ({ synced })) },
);

function pipelineOf(choices: readonly (readonly [number, number])[]): PipelineStep[] {
  const scheduler = new VirtualTimeScheduler();
  const steps: PipelineStep[] = [];
  let isOrdered = false;
  for (const [which, start] of choices) {
    const made = (STEPS[which % STEPS.length] as (typeof STEPS)[number])(start, scheduler);
    if (made.takes === 'ordered' && !isOrdered) continue;
    if (made.takes === 'unordered' && isOrdered) continue;
    steps.push(made);
    isOrdered ||= made.name === 'sort' || made.name === 'top';
  }
  return steps;
}

// The functions that throw are reported, because no view shows what they rejected.
beforeAll(() => {
  config.onUnhandledError = () => undefined;
});

describe('pipelines of live operators', () => {
  it('Q20: hold the naive answer after each set, relist and new parameter', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(50), fc.nat(20)), { minLength: 1, maxLength: 5 }),
        fc.array(event, { maxLength: 30 }),
        fc.boolean(),
        (choices, events, isInTurns) => {
          const world = new World(isInTurns);
          const steps = pipelineOf(choices);
          let stream = world.changes$ as unknown as Sets;
          for (const each of steps) stream = each.apply(stream);
          const mirror = new Mirror<Item>(
            stream,
            steps.every(({ name }) => name === 'conflate'),
          );
          for (const each of events) {
            if ('steps' in each) world.commit(each.steps);
            else if ('reset' in each) world.reset(each.reset);
            else if ('synced' in each) world.setSynced(each.synced);
            else steps[each.at % Math.max(1, steps.length)]?.turn(each.turn);
            if (steps.length > 0) expectEqual(mirror, naiveOf(world, steps));
          }
          mirror.expectKeptOrders();
          world.complete();
          if (steps.length > 0) expect(mirror.completed).toBe(true);
          mirror.subscription.unsubscribe();
        },
      ),
      { numRuns: 400 },
    );
  });
});
