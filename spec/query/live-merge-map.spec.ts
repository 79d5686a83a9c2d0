/** `liveMergeMap`: the latest value of an Observable for each row. */
import { liveMap, liveMergeMap, toView } from 'rx-informer';
import { inTurn } from 'rx-informer/testing';
import { BehaviorSubject, Observable, of, Subject, throwError } from 'rxjs';
import { tap } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { SlicesOfTime } from './engine/slices-of-time.ts';
import { Mirror } from './mirror.ts';
import { type Item, type Step, World } from './world.ts';

const set = (name: string, n: number): Step => ({ name, what: 'set', n, group: 'a' });
const gone = (name: string): Step => ({ name, what: 'delete', n: 0, group: 'a' });

/** A subject for each name, with the number of its subscriptions. */
function metrics() {
  const subjects = new Map<string, Subject<unknown>>();
  const opened: string[] = [];
  const open = new Set<string>();
  const of$ = (name: string) => subjects.get(name) as Subject<unknown>;
  const stream = ({ metadata: { name }, n }: Item) =>
    new Observable<unknown>((subscriber) => {
      const subject = new Subject<unknown>();
      subjects.set(name, subject);
      opened.push(`${name}${n}`);
      open.add(name);
      subscriber.add(() => open.delete(name));
      subscriber.add(subject.subscribe(subscriber));
    });
  return { of$, stream, opened, open };
}

describe('liveMergeMap', () => {
  it('Q51: a row is the latest value, from the first one to the deletion of its object', () => {
    const world = new World();
    const { of$, stream, open } = metrics();
    const mirror = new Mirror(liveMergeMap(stream)(world.changes$));
    world.commit([set('a', 1), set('b', 1)]);
    expect([mirror.objects(), open.size]).toEqual([[], 2]);
    of$('a').next({ cpu: 1 });
    const [first] = mirror.objects();
    of$('a').next({ cpu: 1 });
    expect(mirror.objects()[0]).toBe(first);
    of$('a').next({ cpu: 2 });
    of$('b').next({ cpu: 7 });
    expect(mirror.objects()).toEqual([{ cpu: 2 }, { cpu: 7 }]);
    expect(mirror.sets.map(({ cause, initial }) => [cause, initial])).toEqual([
      ['snapshot', true],
      ['watch', false],
      ['watch', false],
      ['watch', false],
    ]);
    of$('b').complete();
    of$('a').next(undefined);
    expect(mirror.objects()).toEqual([{ cpu: 7 }]);
    world.commit([gone('a'), gone('b')]);
    expect([mirror.objects(), open.size]).toEqual([[], 0]);
  });

  it('Q51: the Observable stays when its object changes, unless the key changes', () => {
    const world = new World();
    const { of$, stream, opened, open } = metrics();
    const key = ({ group }: Item) => [group];
    const mirror = new Mirror(liveMergeMap(stream, { key })(world.changes$));
    world.commit([set('a', 1)]);
    of$('a').next('one');
    world.commit([set('a', 2)]);
    expect([opened, mirror.objects()]).toEqual([['a1'], ['one']]);
    world.commit([{ ...set('a', 3), group: 'b' }]);
    expect([opened, mirror.objects(), open.size]).toEqual([['a1', 'a3'], [], 1]);
    of$('a').next('two');
    expect(mirror.objects()).toEqual(['two']);
  });

  it('Q51: with another key, a first value that is equal to the former row is the same object', () => {
    const world = new World();
    const { of$, stream } = metrics();
    const mirror = new Mirror(liveMergeMap(stream, { key: ({ group }) => group })(world.changes$));
    world.commit([set('a', 1)]);
    of$('a').next({ cpu: 1 });
    const [former] = mirror.objects();
    world.commit([{ ...set('a', 1), group: 'b' }]);
    expect(mirror.objects()).toEqual([]);
    of$('a').next({ cpu: 1 });
    expect(mirror.objects()[0]).toBe(former);
  });

  it('names what replaces the removed option equals, which compares the values as it did', () => {
    const equals = (before: { cpu: number }, now: { cpu: number }) => now.cpu - before.cpu < 1;
    const options = { key: () => 1, equals };
    expect(() => liveMergeMap(() => of({ cpu: 1 }), options)).toThrow(
      new TypeError(
        'liveMergeMap: the option equals was removed; append liveMap((row) => row, { equals })',
      ),
    );
    const world = new World();
    const cpu$ = new Subject<{ cpu: number }>();
    const rows = liveMergeMap<Item, { cpu: number }>(() => cpu$)(world.changes$);
    const mirror = new Mirror(liveMap((row: { cpu: number }) => row, { equals })(rows));
    world.commit([set('a', 1)]);
    for (const cpu of [1, 1.5, 2]) cpu$.next({ cpu });
    expect([mirror.objects(), mirror.sets.length]).toEqual([[{ cpu: 2 }], 3]);
  });

  it('Q51: an error keeps the row out and is listed; the next change of the object tries again', () => {
    const world = new World();
    const { of$, stream, opened } = metrics();
    const view = toView(
      liveMergeMap((object: Item) => {
        if (object.n === 9) return throwError(() => new Error('sync'));
        if (object.n === 8) throw new Error('projection');
        return stream(object);
      })(world.changes$),
    );
    view.subscribe(() => undefined);
    const shown = () => {
      const { rows, status } = view.getSnapshot();
      return [
        rows,
        status.refusedRows.map(({ key, error }) => `${key} ${(error as Error).message}`),
      ];
    };
    world.commit([set('a', 1), set('b', 9), set('c', 8)]);
    expect(shown()).toEqual([[], ['b sync', 'c projection']]);
    of$('a').next('one');
    of$('a').error(new Error('later'));
    expect(shown()).toEqual([[], ['b sync', 'c projection', 'a later']]);
    world.commit([set('a', 2), set('b', 2), set('c', 2)]);
    expect(opened).toEqual(['a1', 'a2', 'b2', 'c2']);
    of$('a').next('again');
    expect(shown()).toEqual([['again'], []]);
    of$('a').error(new Error('last'));
    world.commit([gone('a')]);
    expect(shown()).toEqual([[], []]);
  });

  it('Q51: a new projection replaces all Observables; an end leaves none', () => {
    const world = new World();
    const [one, two] = [metrics(), metrics()];
    const project$ = new BehaviorSubject(one.stream);
    const mirror = new Mirror(liveMergeMap(project$)(world.changes$));
    world.commit([set('a', 1), set('b', 1)]);
    one.of$('a').next(1);
    project$.next(two.stream);
    expect([mirror.objects(), one.open.size, two.open.size]).toEqual([[], 0, 2]);
    two.of$('b').next(2);
    expect(mirror.objects()).toEqual([2]);
    world.complete();
    expect([mirror.completed, two.open.size]).toEqual([true, 0]);
    const left = new Mirror(liveMergeMap(two.stream)(new World().changes$));
    left.subscription.unsubscribe();
    expect(two.open.size).toBe(0);
  });

  it('Q22: a parameter that changes while its answer is computed leaves no Observable of that answer subscribed', () => {
    const scheduler = new SlicesOfTime();
    const world = new World();
    world.reset(Array.from({ length: 200 }, (_, n) => ({ name: `n${n}`, n })));
    const [one, two, three] = [metrics(), metrics(), metrics()];
    const project$ = new BehaviorSubject(one.stream);
    const mirror = new Mirror(liveMergeMap(project$, { scheduler })(world.changes$));
    scheduler.run();
    project$.next(two.stream);
    expect([two.open.size > 0, two.open.size < 200]).toEqual([true, true]);
    project$.next(three.stream);
    scheduler.run();
    expect([one.open.size, two.open.size, three.open.size]).toEqual([0, 0, 200]);
    mirror.subscription.unsubscribe();
    expect(three.open.size).toBe(0);
  });

  it('Q51: values of one turn are one set, and a synchronous value is part of the set of its object', () => {
    const world = new World();
    const { of$, stream } = metrics();
    const mirror = new Mirror(liveMergeMap(stream)(world.changes$));
    const direct = new Mirror(liveMergeMap(({ n }: Item) => of(n))(world.changes$));
    world.commit([set('a', 1), set('b', 1)]);
    inTurn(() => {
      of$('a').next(1);
      of$('b').next(2);
    });
    expect(mirror.sets.map(({ changes }) => changes.length)).toEqual([0, 2]);
    expect(direct.sets.map(({ changes }) => changes.length)).toEqual([0, 2]);
  });

  it('Q51: a value of an Observable that was replaced before the value is handled is ignored', () => {
    const world = new World();
    const { of$, stream } = metrics();
    const key = ({ group }: Item) => group;
    const merged = liveMergeMap(
      (object: Item) => (object.group === 'b' ? of('new') : stream(object)),
      { key },
    )(world.changes$);
    const mirror = new Mirror(
      merged.pipe(
        tap(({ added }) => {
          if (added[0] !== 'first') return;
          // Both wait until this set is delivered.
          world.commit([{ ...set('a', 2), group: 'b' }]);
          of$('a').next('late');
        }),
      ),
    );
    world.commit([set('a', 1)]);
    of$('a').next('first');
    expect(mirror.objects()).toEqual(['new']);
  });

  it('Q51: an error of an Observable that was replaced or unsubscribed before the error is handled is ignored', () => {
    const world = new World();
    const { of$, stream } = metrics();
    const key = ({ group }: Item) => group;
    const merged = liveMergeMap(
      (object: Item) => (object.group === 'b' ? of('new') : stream(object)),
      { key },
    )(world.changes$);
    const view = toView(
      merged.pipe(
        tap(({ added }) => {
          if (added[0] !== 'first') return;
          // All of these wait until this set is delivered.
          world.commit([{ ...set('a', 2), group: 'b' }, gone('c')]);
          for (const name of ['a', 'c']) of$(name).error(new Error('late'));
        }),
      ),
    );
    view.subscribe(() => undefined);
    world.commit([set('a', 1), set('c', 1)]);
    of$('a').next('first');
    const { rows, status } = view.getSnapshot();
    expect([rows, status.refusedRows]).toEqual([['new'], []]);
  });

  it('Q51: leaves no Observable subscribed if the projection unsubscribes from the stream', () => {
    const world = new World();
    const { stream, open } = metrics();
    const leaving = (object: Item) => {
      if (object.n === 2) subscription.unsubscribe();
      return stream(object);
    };
    const subscription = liveMergeMap(leaving)(world.changes$).subscribe();
    world.commit([set('a', 1)]);
    expect(open.size).toBe(1);
    world.commit([set('b', 2), set('c', 3)]);
    expect(open.size).toBe(0);
  });
});
