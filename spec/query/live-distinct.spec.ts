/** `liveDistinct`: the different texts that a function returns for the rows. */

import { liveDistinct, toView } from 'rx-informer';
import { BehaviorSubject, config } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';
import { Mirror } from './mirror.ts';
import { type Item, type Step, World } from './world.ts';

afterEach(() => {
  config.onUnhandledError = null;
});

const step: fc.Arbitrary<Step> = fc.record({
  name: fc.constantFrom('p', 'q', 'r', 's', 't'),
  what: fc.constantFrom('set', 'set', 'delete', 'recreate', 'again'),
  n: fc.nat(9),
  group: fc.constantFrom('a', 'b', 'c'),
});
/** One text, several or none. */
const textsOf = ({ n, group }: Item): string | undefined | readonly string[] => {
  if (n === 0) return undefined;
  return n % 3 === 0 ? [group, 'every third', group] : group;
};

describe('liveDistinct', () => {
  it('Q38: has each text of the present rows once, which is its own id and key', () => {
    fc.assert(
      fc.property(fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 20 }), (commits) => {
        const world = new World();
        const mirror = new Mirror(liveDistinct(textsOf)(world.changes$));
        for (const steps of commits) {
          world.commit(steps);
          const texts = new Set([...world.items.values()].flatMap((item) => textsOf(item) ?? []));
          expect(mirror.ids()).toEqual([...texts].sort());
          for (const [id, { key, object }] of mirror.rows) expect([key, object]).toEqual([id, id]);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('Q38: the function may be an Observable, and an object for which it throws gives no text', () => {
    config.onUnhandledError = () => undefined;
    const world = new World();
    world.reset(['x', 'y'].map((name, n) => ({ name, n })));
    const value$ = new BehaviorSubject(({ metadata }: Item) => metadata.name);
    const view = toView(liveDistinct(value$)(world.changes$));
    const leave = view.subscribe(() => undefined);
    expect(view.getSnapshot().rows).toEqual(['x', 'y']);
    value$.next(({ n }) => {
      if (n === 1) throw new Error('refuses 1');
      return 'z';
    });
    expect(view.getSnapshot().rows).toEqual(['z']);
    expect(view.getSnapshot().status.refusedRows.map(({ key }) => key)).toEqual(['y']);
    leave();
  });

  it('Q22, Q37: refuses a constant that is not a function', () => {
    expect(() => liveDistinct('namespace' as never)).toThrow(
      'liveDistinct: value is "namespace"; it must be a function, or an Observable of functions',
    );
  });
});
