/** Unions: `liveUnion()`. */
import { type ChangeSet, liveSort, liveUnion } from 'rx-informer';
import { changeSet } from 'rx-informer/testing';
import { EMPTY, of, Subject } from 'rxjs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type Pod, pod } from '../delta/pods.ts';
import { Mirror } from './mirror.ts';
import type { Item } from './world.ts';

const update = (previous: Pod, object: Pod) => changeSet<Pod>({ updated: [{ previous, object }] });
const add = (...added: Pod[]) => changeSet<Pod>({ added });
const remove = (...deleted: Pod[]) => changeSet<Pod>({ deleted });
const first = (...added: Pod[]) => changeSet<Pod>({ added, reset: true });

function sources() {
  return [new Subject<ChangeSet<Pod>>(), new Subject<ChangeSet<Pod>>()] as const;
}

describe('liveUnion', () => {
  it('Q46: puts the name of the source before each id and key, so one object in two sources is two rows', () => {
    const [east, west] = sources();
    const mirror = new Mirror(liveUnion({ east, west }));
    const web = pod('shop/web', 1);
    east.next(first(web));
    west.next(first(web, pod('shop/db', 1)));
    expect([...mirror.rows.values()].map(({ id, key }) => `${id} ${key}`)).toEqual([
      'east/u-shop/web east/shop/web',
      'west/u-shop/web west/shop/web',
      'west/u-shop/db west/shop/db',
    ]);
    const web2 = pod('shop/web', 2);
    west.next(update(web, web2));
    east.next(remove(web));
    east.next(first(pod('shop/other', 1)));
    expect(mirror.ids()).toEqual(['east/u-shop/other', 'west/u-shop/db', 'west/u-shop/web']);
    expect(mirror.rows.get('west/u-shop/web')?.object).toBe(web2);
    expect(mirror.sets.at(-1)?.resourceVersion).toBe('');
  });

  it('Q46: a name that cannot be told from an id is refused, and so is a source that is no stream', () => {
    expect(() => liveUnion({ 'a/b': EMPTY })).toThrow(
      /^liveUnion: the name of a source is "a\/b"; it must/,
    );
    expect(() => liveUnion({ '': EMPTY })).toThrow(TypeError);
    expect(() => liveUnion({ a: {} as never })).toThrow(
      /^liveUnion: a is .*; it must be a stream of change sets/,
    );
  });

  it('Q46: a list of streams is refused, with the words of what to write instead', () => {
    for (const list of [[], [EMPTY], [EMPTY, EMPTY]]) {
      const unite = () => liveUnion(list as never);
      expect(unite).toThrow(TypeError);
      expect(unite).toThrow(
        'liveUnion: sources is a list; give each stream a name, as in liveUnion({ a: one$, b: other$ }). To show the rows that one of several filters of a stream selects, use one filter: liveFilter((row) => one(row) || other(row))',
      );
    }
  });

  it('Q46: has the rows of all sources for the compiler, and takes no ordered stream', () => {
    const one$ = of(changeSet<Pod>({}));
    const other$ = of(changeSet<Item>({}));
    expectTypeOf(liveUnion({ one: one$, other: other$ })).toExtend<
      import('rxjs').Observable<ChangeSet<Pod | Item>>
    >();
    const sorted$ = one$.pipe(liveSort<Pod>(() => 0));
    // @ts-expect-error a list has no names
    expect(() => liveUnion([one$])).toThrow(TypeError);
    // @ts-expect-error the union would forget the order
    liveUnion({ sorted: sorted$ });
  });
  it('Q48: is synced when all sources are, and completes when all have; what has completed keeps its rows', () => {
    const [one, other] = sources();
    const mirror = new Mirror(liveUnion({ one, other }));
    one.next(first(pod('a', 1)));
    expect(mirror.sets.at(-1)?.synced).toBe(false);
    one.complete();
    other.next(first());
    expect([mirror.sets.at(-1)?.synced, mirror.sets.length]).toEqual([true, 2]);
    other.next(add(pod('b', 1)));
    expect([mirror.ids().length, mirror.completed]).toEqual([2, false]);
    other.complete();
    expect(mirror.completed).toBe(true);
    const [fine, failing] = sources();
    const failed = new Mirror(liveUnion({ fine, failing }));
    failing.error(new Error('gone'));
    expect(failed.error).toEqual(new Error('gone'));
  });

  it('Q46: what is no object is refused by name', () => {
    for (const [given, shown] of [
      [null, 'null'],
      [undefined, 'undefined'],
      [7, '7'],
    ]) {
      expect(() => liveUnion(given as never)).toThrow(
        `liveUnion: sources is ${shown}; it must be { name: stream }`,
      );
    }
  });

  it('Q48: a union of no sources is empty, synced and complete', () => {
    const mirror = new Mirror(liveUnion({}));
    expect([mirror.ids(), mirror.sets[0]?.synced, mirror.completed]).toEqual([[], true, true]);
  });
});
