/** Parameters of live operators that are Observables. */
import { liveFilter, liveWindow } from 'rx-informer';

import { BehaviorSubject, EMPTY, Observable, of, throwError } from 'rxjs';
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

  it('Q22, Q37: the constants beside it are checked at the call', () => {
    expect(() => liveWindow(of(0), -1)).toThrow(/^liveWindow: limit is -1; it must be/);
    expect(() => liveWindow(0.5, of(1))).toThrow(/^liveWindow: offset is 0.5; it must be/);
    expect(() => liveWindow({ anchor: of('a'), limit: Number.NaN })).toThrow(/limit is NaN/);
  });
});
