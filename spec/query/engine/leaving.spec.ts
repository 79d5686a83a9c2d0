/** Functions of the user that unsubscribe from the result while they are called. */
import { liveFilter, liveMap, liveMergeMap, liveUntil } from 'rx-informer';
import { config, NEVER, Observable, Subject, Subscription } from 'rxjs';
import { takeUntil } from 'rxjs/operators';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Lineage } from '../../../lib/query/engine/lineage.ts';
import { ROWS_A_STEP } from '../../../lib/query/engine/slice.ts';
import { readOrigins } from '../../../lib/store/origin.ts';
import { VirtualTime } from '../../rx/virtual-time.ts';
import { type Item, World } from '../world.ts';

// The refused rows are reported, because no view shows them.
beforeAll(() => {
  config.onUnhandledError = () => undefined;
});

const recreated = { name: 'a', what: 'recreate', n: 2, group: 'a' } as const;

/** Subscribes, and runs the test with a function that leaves; `leavesAt` says in which call. Returns where the rows come from. */
function leaving<T>(
  make: (leave: () => void) => Observable<T>,
  leavesAt: 'first set' | 'later set',
  world: World,
): readonly Lineage[] {
  const found: Lineage[] = [];
  const run = new Subscription();
  let isLater = false;
  const stream = make(() => {
    if (isLater || leavesAt === 'first set') run.unsubscribe();
  });
  readOrigins(
    (origin) => found.push(origin as Lineage),
    () => run.add(stream.subscribe()),
  );
  isLater = true;
  world.commit([recreated]);
  expect(run.closed).toBe(true);
  return found;
}

describe('a function that unsubscribes', () => {
  for (const leavesAt of ['first set', 'later set'] as const) {
    it(`Q81: in the ${leavesAt} leaves no timer`, () => {
      const scheduler = new VirtualTime();
      const world = new World();
      world.reset([{ name: 'a', n: 1 }]);
      const timed = (leave: () => void) =>
        liveUntil<Item>(
          (_, nowMs) => {
            leave();
            return nowMs + 1_000;
          },
          { scheduler },
        )(world.changes$);
      leaving(timed, leavesAt, world);
      expect(scheduler.pending).toBe(0);
    });

    it(`Q81: in the ${leavesAt} leaves no refused row`, () => {
      const world = new World();
      world.reset([{ name: 'a', n: 1 }]);
      const refusing = (leave: () => void) =>
        liveFilter<Item>(() => {
          leave();
          throw new Error('refused');
        })(world.changes$);
      const found = leaving(refusing, leavesAt, world);
      const refused = found.flatMap(({ refusedRows }) => [...refusedRows]);
      expect(refused).not.toEqual([]);
      expect(refused.flatMap(({ rows }) => rows)).toEqual([]);
    });

    it(`Q81: in the ${leavesAt} leaves no inner subscription`, () => {
      const world = new World();
      world.reset([{ name: 'a', n: 1 }]);
      let open = 0;
      const inner$ = new Observable<number>(() => {
        open++;
        return () => open--;
      });
      const merging = (leave: () => void) =>
        liveMergeMap(({ metadata }: Item) => {
          leave();
          return metadata.name === 'a' ? inner$ : NEVER;
        })(liveMap((row: Item) => ({ ...row }))(world.changes$));
      leaving(merging, leavesAt, world);
      world.commit([recreated]);
      expect(open).toBe(0);
    });
  }

  it('Q81: in the first of many rows is not called for the rows of the next steps', () => {
    const world = new World();
    world.reset(Array.from({ length: 10 * ROWS_A_STEP }, (_, n) => ({ name: `i${n}`, n })));
    const left$ = new Subject<void>();
    let calls = 0;
    liveMap((row: Item) => {
      calls++;
      left$.next();
      return { ...row };
    })(world.changes$)
      .pipe(takeUntil(left$))
      .subscribe();
    expect(calls).toBe(ROWS_A_STEP);
  });
});
