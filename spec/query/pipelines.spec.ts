/** Random pipelines of live operators, compared with the naive answer after each event. */

import { liveSort, liveWindow, type OrderedChangeSet } from 'rx-informer';
import { BehaviorSubject, config, type Observable } from 'rxjs';
import { beforeAll, describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';
import { expectSame, Mirror } from './mirror.ts';
import { COMPARISONS, sorted } from './model/functions.ts';
import { runScenarios } from './model/property.ts';
import { simpleOf } from './model/scenario.ts';
import { runSliced, slicedScenario } from './model/sliced.ts';
import { pick, rowsOfWorld } from './model/step.ts';
import { type Item, World } from './world.ts';

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
