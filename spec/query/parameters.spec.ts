/** Parameters of live operators: what is invalid throws where it is given, and Observables as parameters. */
import {
  liveFilter,
  liveFlatMap,
  liveGroupBy,
  liveJoin,
  liveMap,
  liveMergeMap,
  liveSort,
  liveTop,
  liveUnion,
  liveUntil,
  liveWindow,
} from 'rx-informer';
import { BehaviorSubject, EMPTY, NEVER, Observable, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Mirror } from './mirror.ts';
import { type Item, World } from './world.ts';

const no = undefined as never;
const sortsByName = 'name' as never;

const calls: Readonly<Record<string, () => unknown>> = {
  'liveFilter: label selector': () => liveFilter(no),
  'liveFilter: label selector null: it must be text': () => liveFilter(null as never),
  'liveFilter: label selector "a in"': () => liveFilter('a in'),
  'liveMap: project is undefined; it must be a function': () => liveMap(no),
  'liveFlatMap: project is undefined; it must be a function': () => liveFlatMap(no),
  'liveMergeMap: project is undefined; it must be a function': () => liveMergeMap(no),
  'liveSort: compare is "name"; it must be a function': () => liveSort(sortsByName),
  'liveTop: compare is undefined; it must be a function': () => liveTop(3, no),
  'liveTop: n is -1; it must be a whole number': () => liveTop(-1, () => 0),
  'liveUntil: timeOf is undefined; it must be a function': () => liveUntil(no),
  'liveWindow: limit is undefined; it must be a whole number': () => liveWindow(0, no),
  'liveGroupBy: key is undefined; it must be a function': () => liveGroupBy(no, {}),
  'liveJoin: on is undefined; it must be': () => liveJoin(NEVER, { on: no }),
  'liveJoin: options is undefined; it must be': () => liveJoin(NEVER, no),
  'liveUnion: sources is undefined; it must be': () => liveUnion(no),
  'liveWindow: offset is null; it must be a whole number': () => liveWindow(null as never, 1),
};

describe('a constant parameter', () => {
  it.each(Object.entries(calls))('Q22, Q37: throws if it is invalid: %s', (message, call) => {
    expect(call).toThrow(TypeError);
    expect(call).toThrow(message);
  });
});

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
