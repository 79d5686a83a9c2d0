/**
 * Runs pipelines whose answers are computed in slices. While computations are in progress, each step shows the answer
 * of its former parameter or of one that was given since; after them, that of the last one.
 */

import { liveShare } from 'rx-informer';
import * as fc from '../../support/fast-check.ts';
import { SlicesOfTime } from '../engine/slices-of-time.ts';
import { Mirror } from '../mirror.ts';
import { type Item, type Step, World } from '../world.ts';
import { expectEqual, naiveOf } from './naive.ts';
import { simpleOf } from './scenario.ts';
import { type Make, type PipelineStep, plainly, type Sets } from './step.ts';
import { pipelineOf, STEPS } from './steps.ts';

/** A step of a computation takes 64 rows. */
const NAMES = Array.from({ length: 80 }, (_, at) => `n${at}`);
/** Steps with timers, with a second source, or with two parameters of which only one is computed in slices. */
const OTHERS = ['until', 'due', 'top', 'join other', 'join labels', 'union other'];
const MAKES: readonly Make[] = STEPS.filter(
  (make) => !OTHERS.includes(make(0, plainly(new SlicesOfTime())).name),
);
/** The most combinations of parameters that may be shown at one moment. */
const MOST_SHOWN = 24;

type SlicedEvent =
  | { readonly steps: readonly Step[] }
  | { readonly slices: number }
  | { readonly at: number; readonly to: number }
  | { readonly without: number };

export interface SlicedScenario {
  readonly choices: readonly (readonly [which: number, start: number])[];
  readonly events: readonly SlicedEvent[];
}

const commit = simpleOf(NAMES).map((each) => ({ steps: each.do === 'commit' ? each.steps : [] }));
export const slicedScenario: fc.Arbitrary<SlicedScenario> = fc.record({
  choices: fc.array(fc.tuple(fc.nat(1_000), fc.nat(20)), { minLength: 1, maxLength: 3 }),
  events: fc.array(
    fc.oneof(
      { weight: 4, arbitrary: commit },
      { weight: 3, arbitrary: fc.record({ slices: fc.integer({ min: 1, max: 3 }) }) },
      { weight: 4, arbitrary: fc.record({ at: fc.nat(3), to: fc.nat(20) }) },
      { weight: 1, arbitrary: fc.record({ without: fc.nat(9) }) },
    ),
    { maxLength: 25, size: 'max' },
  ),
});

/** A step, and the numbers with which it was turned since no computation was in progress. */
interface Turned {
  readonly make: () => PipelineStep;
  readonly settled: number[];
  readonly since: number[];
}

function turnedBy(make: () => PipelineStep, turns: readonly number[]): PipelineStep {
  const step = make();
  for (const to of turns) step.turn(to);
  return step;
}

/** All pipelines that may be shown. */
function* shownOf(turned: readonly Turned[]): Generator<PipelineStep[], void, void> {
  const [first, ...others] = turned;
  if (first === undefined) return yield [];
  const { make, settled, since } = first;
  for (let given = 0; given <= since.length; given++) {
    const step = turnedBy(make, [...settled, ...since.slice(0, given)]);
    for (const more of shownOf(others)) yield [step, ...more];
  }
}

function expectShown(mirror: Mirror<Item>, world: World, turned: readonly Turned[]): void {
  let wrong: unknown;
  for (const steps of shownOf(turned)) {
    try {
      return expectEqual(mirror, naiveOf(world, steps));
    } catch (error) {
      wrong = error;
    }
  }
  throw wrong;
}

/** Runs a scenario, and returns how many of its events came while a computation was in progress. */
export function runSliced({ choices, events }: SlicedScenario): number {
  const scheduler = new SlicesOfTime();
  const around = plainly(scheduler);
  const world = new World(true);
  world.reset(NAMES.slice(0, 70).map((name, at) => ({ name, n: at % 10 })));
  // Each operator once, because rows that are multiplied twice would be a long list.
  const names = new Set<string>();
  const once = choices.filter((choice) => {
    const [step] = pipelineOf([choice], around, MAKES);
    const { size } = names;
    return names.add(step?.name ?? '').size > size;
  });
  const steps = pipelineOf(once, around, MAKES);
  const turned = steps.map((_, at): Turned => {
    const make = () => pipelineOf(once, around, MAKES)[at] as PipelineStep;
    return { make, settled: [], since: [] };
  });
  // Shared, because two sources of a step that are computed each for itself may show two parameters.
  const stream = steps.reduce(
    (source, each) => each.apply(liveShare()(source) as Sets),
    world.changes$ as Sets,
  );
  const mirror = new Mirror<Item>(
    stream,
    steps.every(({ name }) => name === 'conflate'),
  );
  scheduler.run();
  let during = 0;
  const check = () => {
    if (mirror.error !== undefined) throw mirror.error;
    if (scheduler.waiting > 0) return expectShown(mirror, world, turned);
    for (const { settled, since } of turned) settled.push(...since.splice(0));
    expectEqual(mirror, naiveOf(world, steps));
  };
  check();
  for (const each of events) {
    during += Math.min(1, scheduler.waiting);
    if ('steps' in each) world.commit(each.steps);
    else if ('slices' in each) scheduler.run(each.slices);
    else if ('at' in each) {
      const at = each.at % steps.length;
      const shown = turned.reduce((all, { since }) => all * (since.length + 1), 1);
      if (shown * 2 > MOST_SHOWN) continue;
      turned[at]?.since.push(each.to);
      steps[at]?.turn(each.to);
    } else {
      const items = [...world.items.values()].map(({ metadata, n }) => ({
        name: metadata.name,
        n,
      }));
      world.reset(items.filter(({ n }) => n !== each.without));
    }
    check();
  }
  scheduler.run();
  check();
  mirror.expectKeptOrders();
  mirror.subscription.unsubscribe();
  return during;
}
