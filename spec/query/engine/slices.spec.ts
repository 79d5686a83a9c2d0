/** Answers that are computed in slices: while one is computed, the former one stands. */

import {
  type AnyChangeSet,
  liveFilter,
  liveFlatMap,
  liveJoin,
  liveMap,
  liveSort,
  liveUnion,
  liveUntil,
} from 'rx-informer';
import { BehaviorSubject, config, type Observable, Subject } from 'rxjs';

import { beforeAll, describe, expect, it } from 'vitest';
import * as fc from '../../support/fast-check.ts';
import { Mirror } from '../mirror.ts';
import { expectEqual, naiveOf } from '../model/naive.ts';
import { type PipelineStep, plainly, type Sets } from '../model/step.ts';
import { STEPS } from '../model/steps.ts';
import { type Item, type Step, World } from '../world.ts';
import { SlicesOfTime } from './slices-of-time.ts';

/** A step of a computation takes 64 rows, so a computation over these takes several slices. */
const NAMES = Array.from({ length: 180 }, (_, at) => `n${at}`);
const step: fc.Arbitrary<Step> = fc.record({
  name: fc.constantFrom(...NAMES),
  what: fc.constantFrom('set', 'set', 'set', 'delete', 'recreate', 'again'),
  n: fc.nat(9),
  group: fc.constantFrom('a', 'b', 'c'),
});
const event = fc.oneof(
  { weight: 4, arbitrary: fc.array(step, { maxLength: 5 }).map((steps) => ({ steps })) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 4 }).map((slices) => ({ slices })) },
  { weight: 3, arbitrary: fc.nat(20).map((turn) => ({ turn })) },
  { weight: 1, arbitrary: fc.nat(9).map((reset) => ({ reset })) },
);

function worldOf(objects: number, n = (at: number) => at % 10): World {
  const world = new World();
  world.reset(NAMES.slice(0, objects).map((name, at) => ({ name, n: n(at) })));
  return world;
}

/** Streams whose steps compute nothing in slices of their own: the filters of a union do, each by itself. */
const PASSING = ['conflate', 'share', 'union'];
const TIMED = ['until', 'due'];

/** Operators that compute in slices. Some have timers of their own, and a window takes an ordered stream. */
const makers = STEPS.filter((make) => {
  const { name, takes, hasOther } = make(0, plainly(new SlicesOfTime()));
  return takes !== 'ordered' && !hasOther && ![...TIMED, ...PASSING].includes(name);
});
function make(which: number, start: number, scheduler: SlicesOfTime): PipelineStep {
  return (makers[which % makers.length] as (typeof makers)[number])(start, plainly(scheduler));
}

// The functions that throw are reported, because no view shows what they refused.
beforeAll(() => {
  config.onUnhandledError = () => undefined;
});

describe('an answer that is computed in slices', () => {
  it('Q21, Q86: the former answer stands and receives commits, then one set makes it the new one', () => {
    const slicesSeen = { first: 0, later: 0, abandoned: 0 };
    fc.assert(
      fc.property(
        fc.nat(50),
        fc.nat(20),
        fc.integer({ min: 100, max: NAMES.length }),
        fc.array(event, { maxLength: 25 }),
        fc.boolean(),
        (which, start, objects, events, completes) => {
          const scheduler = new SlicesOfTime();
          const world = worldOf(objects);
          const operator = make(which, start, scheduler);
          /** The operator with the parameters of the answer that stands. */
          const standing = make(which, start, scheduler);
          let turned: number | undefined;
          const mirror = new Mirror<Item>(operator.apply(world.changes$ as unknown as Sets));
          const check = () => {
            if (scheduler.waiting === 0 && turned !== undefined) {
              standing.turn(turned);
              turned = undefined;
            }
            if (mirror.error !== undefined) throw mirror.error;
            if (mirror.sets.length > 0) expectEqual(mirror, naiveOf(world, [standing]));
            else expect(scheduler.waiting).toBe(1);
            expect(scheduler.waiting).toBeLessThanOrEqual(1);
          };
          check();
          for (const each of events) {
            if (mirror.sets.length === 0) slicesSeen.first += scheduler.waiting;
            else slicesSeen.later += scheduler.waiting;
            if ('steps' in each) world.commit(each.steps);
            else if ('slices' in each) scheduler.run(each.slices);
            else if ('turn' in each) {
              // A window is not computed in slices, so a step with one has one parameter that is not.
              slicesSeen.abandoned += scheduler.waiting;
              operator.turn(each.turn);
              turned = each.turn;
            } else {
              const kept = [...world.items.values()].map(({ metadata: { name }, n }) => ({
                name,
                n,
              }));
              world.reset(kept.filter(({ n }) => n !== each.reset));
            }
            check();
          }
          if (completes) {
            world.complete();
            expect(mirror.completed).toBe(scheduler.waiting === 0);
            scheduler.run();
            check();
            expect(mirror.completed).toBe(true);
          }
          mirror.subscription.unsubscribe();
          expect(scheduler.waiting).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
    for (const seen of Object.values(slicesSeen)) expect(seen).toBeGreaterThan(10);
  });

  it.each(['a long first list', 'many rows that a parameter before it has changed'])(
    'Q21: %s: computed in slices, and nothing is emitted before the last one',
    (what) => {
      const isList = what === 'a long first list';
      const slicesSeen = { filling: 0, turned: 0 };
      fc.assert(
        fc.property(
          fc.nat(50),
          fc.nat(20),
          fc.boolean(),
          fc.array(event, { maxLength: 12 }),
          (which, start, hadRows, events) => {
            const scheduler = new SlicesOfTime();
            const world = worldOf(hadRows ? 3 : 0);
            const many = Array.from({ length: 520 }, (_, at) => `n${at}`);
            if (!isList) world.reset(many.map((name, at) => ({ name, n: at % 7 })));
            const operator = make(which, start, scheduler);
            const mirror = new Mirror<Item>(operator.apply(world.changes$ as unknown as Sets));
            scheduler.run();
            const gone = NAMES.slice(0, isList ? 3 : 0);
            world.commit(gone.map((name) => ({ name, what: 'delete', n: 0, group: 'a' })));
            world.setSynced(false);
            const { length: before } = mirror.sets;
            const kinds = isList ? (['set'] as const) : (['set', 'delete', 'recreate'] as const);
            world.commit(
              many.map((name, at) => {
                const what = kinds[at % kinds.length] as Step['what'];
                return { name, what, n: at % 10, group: 'a' };
              }),
              isList ? 'initial' : 'query',
            );
            const check = () => {
              if (mirror.error !== undefined) throw mirror.error;
              if (scheduler.waiting === 0) expectEqual(mirror, naiveOf(world, [operator]));
              // A new number of rows cuts the order that stands.
              else if (operator.name !== 'top') {
                expect([operator.name, mirror.sets.length]).toEqual([operator.name, before]);
              }
            };
            check();
            const isFilling = scheduler.waiting > 0;
            if (start % 2 === 0) world.setSynced(true);
            check();
            let isAlone = start % 2 === 1;
            for (const each of events) {
              slicesSeen.filling += scheduler.waiting;
              // Until the list is complete, so that no other answer is computed after it.
              if (scheduler.waiting === 0) break;
              isAlone &&= 'slices' in each;
              if ('steps' in each) world.commit(each.steps);
              else if ('slices' in each) scheduler.run(each.slices);
              else if ('turn' in each) {
                slicesSeen.turned += 1;
                operator.turn(each.turn);
              } else
                world.reset(
                  [...world.items.values()].map(({ metadata: { name }, n }) => ({ name, n })),
                );
              check();
            }
            scheduler.run();
            check();
            if (isFilling && isAlone) {
              // Nothing is emitted for a list of which no row is in the answer.
              const cause = isList ? 'initial' : 'query';
              expect(mirror.sets[before]?.cause ?? cause).toBe(cause);
            }
            mirror.subscription.unsubscribe();
            expect(scheduler.waiting).toBe(0);
          },
        ),
        { numRuns: 60 },
      );
      for (const seen of Object.values(slicesSeen)) expect(seen).toBeGreaterThan(10);
    },
  );

  it('Q21, Q20: rows that a reset has replaced before they were fed are not in the answer', () => {
    for (let before = 0; before < 4; before++) {
      const scheduler = new SlicesOfTime();
      // Its rows are fed in several slices.
      const world = worldOf(NAMES.length, (at) => at);
      const mirror = new Mirror<Item>(
        world.changes$.pipe(liveSort((one, other) => one.n - other.n, { scheduler })),
      );
      scheduler.run(before);
      world.reset([
        { name: 'n3', n: 3 },
        { name: 'late', n: 1_000 },
      ]);
      scheduler.run();
      const { order } = mirror;
      const names = Array.from(
        { length: order?.size ?? 0 },
        (_, at) => order?.at(at)?.metadata.name,
      );
      expect(names).toEqual(['n3', 'late']);
    }
  });

  it('Q21: a row that changes only in the former answer, while the two are compared, is corrected', () => {
    // Two slices feed the rows, then each answer is compared with the other one.
    for (let before = 0; before < 12; before++) {
      const scheduler = new SlicesOfTime();
      const world = worldOf(150, () => 1);
      const project$ = new BehaviorSubject(({ n }: Item) => ({ n }));
      const mirror = new Mirror(liveMap(project$, { scheduler })(world.changes$));
      scheduler.run();
      project$.next(({ n }) => ({ n: Math.min(n, 1) }));
      scheduler.run(before);
      world.commit([{ name: 'n0', what: 'set', n: 2, group: 'a' }]);
      scheduler.run();
      expect(mirror.objects().filter(({ n }) => n !== 1)).toEqual([]);
    }
  });

  it('Q21, Q86: the set of a new parameter has the cause `query`, a commit meanwhile keeps its own', () => {
    const scheduler = new SlicesOfTime();
    const world = worldOf(150);
    const predicate$ = new BehaviorSubject(({ n }: Item) => n > 3);
    const mirror = new Mirror(liveFilter<Item>(predicate$, { scheduler })(world.changes$));
    scheduler.run();
    predicate$.next(({ n }) => n > 4);
    world.commit([{ name: 'n9', what: 'set', n: 8, group: 'a' }]);
    scheduler.run();
    const heads = mirror.sets.map(({ cause, reset, initial }) => ({ cause, reset, initial }));
    expect(heads).toEqual([
      { cause: 'snapshot', reset: true, initial: true },
      { cause: 'watch', reset: false, initial: false },
      { cause: 'query', reset: false, initial: false },
    ]);
  });

  it('Q21, Q86: the first set keeps its cause if commits arrive before it', () => {
    const scheduler = new SlicesOfTime();
    const world = worldOf(150);
    const mirror = new Mirror(liveFilter<Item>(({ n }) => n > 3, { scheduler })(world.changes$));
    const predicate$ = new Subject<(object: Item) => boolean>();
    const late = new Mirror(liveFilter<Item>(predicate$, { scheduler })(world.changes$));
    world.commit([{ name: 'n9', what: 'delete', n: 8, group: 'a' }]);
    predicate$.next(({ n }) => n > 3);
    scheduler.run();
    for (const { sets } of [mirror, late]) {
      expect(sets).toHaveLength(1);
      expect([sets[0]?.cause, sets[0]?.reset, sets[0]?.initial]).toEqual(['snapshot', true, true]);
      expect(sets[0]?.added).toHaveLength(89);
    }
  });

  it('Q21: a collection of up to 60 rows is computed in one slice, however slow the computer is', () => {
    for (let which = 0; which < makers.length; which++) {
      for (let turn = 0; turn < 20; turn++) {
        const scheduler = new SlicesOfTime(1_000);
        const operator = make(which, turn, scheduler);
        // Up to three rows of each object, or a row on each side of the join.
        const objects = { flatMap: 20, join: 30 }[operator.name] ?? 60;
        const world = worldOf(objects);
        const mirror = new Mirror<Item>(operator.apply(world.changes$ as unknown as Sets));
        expect(mirror.sets).toHaveLength(1);
        operator.turn(turn + 1);
        expect([operator.name, scheduler.waiting]).toEqual([operator.name, 0]);
        mirror.subscription.unsubscribe();
      }
    }
  });

  it('Q21: a union of up to 60 rows is computed in one slice, too', () => {
    const scheduler = new SlicesOfTime(1_000);
    const { changes$ } = worldOf(60);
    const mirror = new Mirror(liveUnion({ changes$ }, { scheduler }));
    expect([mirror.rows.size, scheduler.waiting]).toEqual([60, 0]);
  });

  it('Q97: answers that are computed at the same time share the slices, and the first that was asked is the first answer', () => {
    const scheduler = new SlicesOfTime();
    const world = worldOf(NAMES.length);
    const byN = liveSort<Item>((one, other) => one.n - other.n, { scheduler });
    const isLow = liveFilter<Item>(({ n }) => n < 9, { scheduler });
    // A sort that a filter causes goes on before the answers that were asked after it.
    const answers = [
      () => new Mirror(world.changes$.pipe(isLow, byN)),
      () => new Mirror(world.changes$.pipe(byN)),
      () => new Mirror(world.changes$.pipe(isLow)),
    ].map((ask) => ask());
    const answered = () => answers.filter(({ sets }) => sets.length > 0).length;
    const seen: number[] = [];
    while (scheduler.waiting > 0) {
      expect(scheduler.waiting).toBe(1);
      expect(answers.map(({ sets }) => sets.length > 0)).toEqual(
        answers.map((_, at) => at < answered()),
      );
      seen.push(answered());
      scheduler.run(1);
    }
    expect(answered()).toBe(3);
    expect(new Set(seen)).toEqual(new Set([0, 1, 2]));
    for (const mirror of answers) expect(mirror.error).toBeUndefined();
  });

  it('Q97: an answer that nobody waits for any more leaves its turn to the next one', () => {
    const scheduler = new SlicesOfTime();
    const world = worldOf(NAMES.length);
    const byN = liveSort<Item>((one, other) => one.n - other.n, { scheduler });
    const [first, second, third] = [0, 1, 2].map(() => new Mirror(world.changes$.pipe(byN)));
    second?.subscription.unsubscribe();
    first?.subscription.unsubscribe();
    expect(scheduler.waiting).toBe(1);
    scheduler.run();
    expect([first, second, third].map((each) => each?.sets.length)).toEqual([0, 0, 1]);
    const late = new Mirror(world.changes$.pipe(byN));
    late.subscription.unsubscribe();
    expect(scheduler.waiting).toBe(0);
  });

  it('Q21: rows that have not changed are not made again for a long set of another operator', () => {
    let calls = 0;
    const made = ({ n }: Item) => {
      calls++;
      return { list: [n] };
    };
    const none = new World().changes$;
    const on = { left: () => 'a', right: () => 'b' };
    // A clock that stands still, so that a slow computer needs no further slice.
    const scheduler = new SlicesOfTime(0);
    for (const operator of [
      liveMap(made, { scheduler }),
      liveFlatMap((object: Item) => [{ name: 'x', ...made(object) }], { scheduler }),
      liveJoin(none, { on, project: made, scheduler }),
      liveUntil((object: Item) => made(object).list.length, { scheduler }),
    ] as const) {
      calls = 0;
      const world = new World();
      world.reset(Array.from({ length: 2_000 }, (_, at) => ({ name: `n${at}`, n: at % 10 })));
      const predicate$ = new BehaviorSubject(({ n }: Item) => n > 6);
      const filtered = liveFilter<Item>(predicate$, { scheduler })(world.changes$);
      const last: { updated?: number } = {};
      const apply = operator as (source: typeof filtered) => Observable<AnyChangeSet<unknown>>;
      const subscription = apply(filtered).subscribe((set) => {
        last.updated = set.updated.length;
      });
      expect(calls).toBe(600);
      predicate$.next(() => true);
      expect([last.updated, calls]).toEqual([0, 2_000]);
      subscription.unsubscribe();
    }
  });
});
