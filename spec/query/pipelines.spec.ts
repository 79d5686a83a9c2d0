/** Random pipelines of live operators, compared with the naive answer after each event. */

import { liveShare, liveSort, liveWindow, type OrderedChangeSet } from 'rx-informer';
import { BehaviorSubject, config, type Observable } from 'rxjs';
import { beforeAll, describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';
import { SlicesOfTime } from './engine/slices-of-time.ts';
import { expectSame, Mirror } from './mirror.ts';
import { COMPARISONS, sorted } from './model/functions.ts';
import { expectEqual, naiveOf } from './model/naive.ts';
import { runScenarios } from './model/property.ts';
import { simpleOf } from './model/scenario.ts';
import {
  type Make,
  type PipelineStep,
  pick,
  plainly,
  rowsOfWorld,
  type Sets,
} from './model/step.ts';
import { pipelineOf, STEPS } from './model/steps.ts';
import { type Item, type Step, World } from './world.ts';

// Runs pipelines whose answers are computed in slices. While computations are in progress, each step shows the answer of its former
// parameter or of one that was given since; after them, that of the last one.

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

interface SlicedScenario {
  readonly choices: readonly (readonly [which: number, start: number])[];
  readonly events: readonly SlicedEvent[];
}

const commit = simpleOf(NAMES).map((each) => ({ steps: each.do === 'commit' ? each.steps : [] }));
const slicedScenario: fc.Arbitrary<SlicedScenario> = fc.record({
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
function runSliced({ choices, events }: SlicedScenario): number {
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

// The functions that throw are reported, because no view shows what they refused.
beforeAll(() => {
  config.onUnhandledError = () => undefined;
});

describe('pipelines of live operators', () => {
  it('Q20, Q27: hold the naive answer after each of ten thousand events', () => {
    const { events, pipelines } = runScenarios(10_000, fc.RANDOM_SEED);
    expect(events).toBeGreaterThanOrEqual(10_000);
    for (const [name, count] of pipelines) {
      expect([name, count > 0]).toEqual([name, true]);
    }
  });

  it('Q20: hold an answer of a former or a present parameter while several compute in slices', () => {
    let during = 0;
    const property = fc.property(slicedScenario, (each) => {
      during += runSliced(each);
    });
    fc.assert(property, { numRuns: 80 });
    expect(during).toBeGreaterThan(50);
  });

  it('Q20: a window around a row is where that row is, or was last', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const events = fc.array(fc.oneof(simpleOf(names), fc.nat(11)), { maxLength: 40, size: 'max' });
    const sizes = fc.constantFrom(0, 1, 3, 100, Number.POSITIVE_INFINITY);
    fc.assert(
      fc.property(
        events,
        fc.integer({ min: -9, max: 9 }),
        sizes,
        fc.nat(),
        (all, offset, limit, at) => {
          const world = new World(true);
          const compare = pick(COMPARISONS, at % 3);
          const anchor$ = new BehaviorSubject<string | undefined>(undefined);
          const sorted$ = world.changes$.pipe(liveSort<Item>(compare));
          const cut = liveWindow({ anchor: anchor$, offset, limit });
          const mirror = new Mirror<Item>(cut(sorted$ as Observable<OrderedChangeSet<Item>>));
          let last = 0;
          for (const event of all) {
            const before = rowsOfWorld(world);
            if (typeof event === 'number') anchor$.next(before[event]?.id);
            else if (event.do === 'commit') world.commit(event.steps);
            else if (event.do === 'reset') world.reset(event.items);
            const ids = sorted(rowsOfWorld(world), compare).map(({ id }) => id);
            const found = ids.indexOf(anchor$.value ?? '');
            if (found >= 0) last = found;
            const start = Math.max(0, Math.min(last, Math.max(0, ids.length - 1)) + offset);
            expectSame('the window', mirror.ids(), ids.slice(start, start + limit));
            expectSame('the total', mirror.sets.at(-1)?.total, ids.length);
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});
