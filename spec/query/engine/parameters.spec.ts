/** Parameters of live operators that are Observables. */
import { liveFilter, liveSort, liveTop, liveWindow, type RowOrder } from 'rx-informer';
import { inTurn, marbles } from 'rx-informer/testing';
import { BehaviorSubject, EMPTY, Observable, of, Subject, throwError } from 'rxjs';
import { map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { Mirror } from '../mirror.ts';
import { type Item, World } from '../world.ts';

type Predicate = (object: Item) => boolean;
const above =
  (least: number): Predicate =>
  ({ n }) =>
    n > least;

function worldOf(...numbers: number[]): World {
  const world = new World();
  world.reset(numbers.map((n) => ({ name: `n${n}`, n })));
  return world;
}
const numbers = (mirror: Mirror<Item>) => mirror.objects().map(({ n }) => n);
const set = (name: string, n: number) => ({ name, what: 'set', n, group: 'a' }) as const;

describe('a parameter that is an Observable', () => {
  it('Q22: nothing is emitted until each parameter has a value; then one reset set', () => {
    const world = worldOf(1, 2, 3);
    const n$ = new Subject<number>();
    const compare$ = new Subject<(one: Item, other: Item) => number>();
    const mirror = new Mirror<Item>(liveTop<Item>(n$, compare$)(world.changes$));
    n$.next(2);
    world.commit([set('n4', 4)]);
    expect(mirror.sets).toEqual([]);
    compare$.next((one, other) => other.n - one.n);
    expect(numbers(mirror)).toEqual([4, 3]);
    world.commit([set('n5', 5)]);
    expect(numbers(mirror)).toEqual([5, 4]);
    expect(mirror.sets.map(({ reset }) => reset)).toEqual([true, false]);
  });

  it('Q22: a new value gives one set, the same value none', () => {
    const world = worldOf(1, 2, 3);
    const predicate$ = new BehaviorSubject<Predicate>(above(1));
    const mirror = new Mirror(liveFilter<Item>(predicate$)(world.changes$));
    predicate$.next(predicate$.value);
    expect(mirror.sets).toHaveLength(1);
    predicate$.next(above(1));
    expect(mirror.sets).toHaveLength(1);
    predicate$.next(above(2));
    expect(numbers(mirror)).toEqual([3]);
    expect(mirror.sets).toHaveLength(2);
    expect(mirror.sets[1]?.deleted.map(({ object }) => object.n)).toEqual([2]);
  });

  it('Q22: parameters that change in one turn change the answer once', () => {
    const world = worldOf(1, 2, 3, 4, 5);
    const page$ = new BehaviorSubject(0);
    const sorted = liveSort<Item>((one, other) => one.n - other.n)(world.changes$);
    const offset$ = page$.pipe(map((page) => page * 2));
    const limit$ = page$.pipe(map((page) => page + 1));
    const mirror = new Mirror(liveWindow(offset$, limit$)(sorted));
    const turning = sorted.subscribe(({ rev }) => page$.next(rev % 2));
    // A commit of an informer is a turn.
    inTurn(() => world.commit([set('n9', 9)]));
    expect([page$.value, numbers(mirror)]).toEqual([0, [1]]);
    inTurn(() => world.commit([set('n8', 8)]));
    expect(numbers(mirror)).toEqual([3, 4]);
    expect(mirror.sets.map(({ order }) => (order as RowOrder<Item>).size)).toEqual([1, 2, 1, 2]);
    turning.unsubscribe();
  });

  it('Q22: a parameter that completes keeps its last value; one that errors ends the stream', () => {
    const world = worldOf(1, 2, 3);
    const kept = new Mirror(liveFilter<Item>(of(above(1), above(2)))(world.changes$));
    world.commit([set('n4', 4)]);
    expect([numbers(kept), kept.completed]).toEqual([[3, 4], false]);
    const never = new Mirror(liveFilter<Item>(EMPTY)(world.changes$));
    expect([never.sets.length, never.completed]).toEqual([0, false]);
    const failing$ = new BehaviorSubject<Predicate>(above(1));
    const failed = new Mirror(liveFilter<Item>(failing$)(world.changes$));
    failing$.error(new Error('no more predicates'));
    expect(failed.error).toEqual(new Error('no more predicates'));
    const failedFirst = new Mirror(
      liveFilter<Item>(throwError(() => new Error('never any')))(world.changes$),
    );
    expect(failedFirst.error).toEqual(new Error('never any'));
    world.complete();
    expect([kept.completed, never.completed]).toEqual([true, true]);
  });

  it('Q22: unsubscribing unsubscribes from source and parameters', () => {
    const open = { source: 0, predicate: 0 };
    const count = <V>(name: keyof typeof open, of$: Observable<V>) =>
      new Observable<V>((subscriber) => {
        open[name]++;
        subscriber.add(() => open[name]--);
        subscriber.add(of$.subscribe(subscriber));
      });
    const world = worldOf(1, 2);
    const predicate$ = count('predicate', new BehaviorSubject(above(1)));
    const filtered = liveFilter<Item>(predicate$)(count('source', world.changes$));
    const [one, two] = [new Mirror(filtered), new Mirror(filtered)];
    expect(open).toEqual({ source: 2, predicate: 2 });
    one.subscription.unsubscribe();
    two.subscription.unsubscribe();
    expect(open).toEqual({ source: 0, predicate: 0 });
  });

  it('Q22: values, commits and the end, frame by frame', () => {
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const world = worldOf(1, 2, 3);
      hot('---c----|').subscribe({
        next: () => world.commit([set('n4', 4)]),
        complete: () => world.complete(),
      });
      const predicate$ = cold('-a--b|', { a: above(1), b: above(3) });
      const result = liveFilter<Item>(predicate$, { scheduler })(world.changes$).pipe(
        map(({ changes, cause }) => `${cause} ${changes.length}`),
      );
      const values = { a: 'snapshot 2', c: 'watch 1', b: 'query 2' };
      expectObservable(result).toBe('-a-cb---|', values);
    });
  });

  it('Q22, Q37: the constants beside it are checked at the call', () => {
    expect(() => liveWindow(of(0), -1)).toThrow(/^liveWindow: limit is -1; it must be/);
    expect(() => liveWindow(0.5, of(1))).toThrow(/^liveWindow: offset is 0.5; it must be/);
    expect(() => liveWindow({ anchor: of('a'), limit: Number.NaN })).toThrow(/limit is NaN/);
  });
});
