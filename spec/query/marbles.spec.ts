/** Turns and time, frame by frame: one frame, one emission. */
import {
  liveFilter,
  liveJoin,
  liveMap,
  liveSort,
  liveTop,
  liveUnion,
  liveUntil,
  liveWindow,
  type OrderedChangeSet,
} from 'rx-informer';
import { inTurn, marbles } from 'rx-informer/testing';
import { BehaviorSubject } from 'rxjs';
import { map } from 'rxjs/operators';
import { describe, it } from 'vitest';
import { type Item, type Step, World } from './world.ts';

const set = (name: string, n: number): Step => ({ name, what: 'set', n, group: 'a' });
const gone = (name: string): Step => ({ name, what: 'delete', n: 0, group: 'a' });
const ascending = (one: Item, other: Item) => one.n - other.n;
/** The rows in order, as `a1 b4 of 3`. */
const ordered = ({ order, total }: OrderedChangeSet<Item>) =>
  `${order
    .slice()
    .map(({ metadata, n }) => metadata.name + n)
    .join(' ')} of ${total}`;

describe('live operators, frame by frame', () => {
  it('Q25: a diamond of joins and unions emits one set per commit, in its frame', () => {
    marbles(({ hot, expectObservable }) => {
      const world = new World(true);
      const commits = {
        a: [set('a', 1)],
        b: [set('a', 4), set('b', 4)],
        c: [gone('a'), set('b', 5)],
      };
      hot('-a-b--c-|', commits).subscribe({
        next: (steps) => world.commit(steps),
        complete: () => world.complete(),
      });
      const [small, large] = [({ n }: Item) => n < 5, ({ n }: Item) => n > 3].map((holds) =>
        world.changes$.pipe(liveFilter(holds)),
      ) as [World['changes$'], World['changes$']];
      const byN = ({ n }: Item) => String(n);
      const joined = liveUnion({ small, large }).pipe(
        liveJoin(world.changes$.pipe(liveMap((object) => object)), {
          on: { left: byN, right: byN },
          project: ({ metadata, n }, right) => `${metadata.name}${n}/${right.length}`,
        }),
        map(({ changes }) => changes.map(({ id, object }) => object ?? `-${id}`).join(' ')),
      );
      expectObservable(joined).toBe('ea-b--c-|', {
        e: '',
        a: 'a1/1',
        b: 'a4/2 b4/2 a4/2 b4/2',
        c: '-small/u0 -small/u1 -large/u0 b5/1',
      });
    });
  });

  it('Q22: parameters that change in one turn give one set, in their frame', () => {
    marbles(({ hot, expectObservable }) => {
      const world = new World(true);
      world.reset([1, 2, 3].map((n) => ({ name: `r`.repeat(n), n })));
      const n$ = new BehaviorSubject(1);
      const compare$ = new BehaviorSubject(ascending);
      hot('--p--q-').subscribe((mark) => {
        if (mark === 'q') return n$.next(1);
        inTurn(() => {
          n$.next(2);
          compare$.next((one, other) => other.n - one.n);
        });
      });
      const top = world.changes$.pipe(liveTop<Item>(n$, compare$), map(ordered));
      expectObservable(top).toBe('e-p--q', { e: 'r1 of 3', p: 'rrr3 rr2 of 3', q: 'rrr3 of 3' });
    });
  });

  it('Q52: rows of one time pass all operators in one set, in the frame of that time', () => {
    marbles(({ hot, expectObservable, scheduler }) => {
      const world = new World(true);
      const commits = { a: [set('a', 9), set('b', 5), set('c', 5)], b: [set('b', 12)] };
      hot('-a-----b-------|', commits).subscribe({
        next: (steps) => world.commit(steps),
        complete: () => world.complete(),
      });
      const due = world.changes$.pipe(
        liveUntil<Item>(({ n }) => n, { scheduler }),
        liveFilter<Item>(({ n }, nowMs) => nowMs >= n, { scheduler }),
        liveSort<Item>(ascending, { scheduler }),
        liveWindow(0, 2, { scheduler }),
        map(ordered),
      );
      expectObservable(due).toBe('e----t-b-u--v--|', {
        e: ' of 0',
        t: 'b5 c5 of 2',
        b: 'c5 of 1',
        u: 'c5 a9 of 2',
        v: 'c5 a9 of 3',
      });
    });
  });
});
