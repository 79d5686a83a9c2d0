/** Unions: `liveUnion()`. */
import { type ChangeSet, liveFilter, liveSort, liveUnion, toView } from 'rx-informer';
import { changeSet } from 'rx-informer/testing';
import { config, EMPTY, of, Subject } from 'rxjs';
import { beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { inTurn } from '../../lib/rx/drain.ts';
import { type Pod, pod } from '../delta/pods.ts';
import { Mirror } from './mirror.ts';
import { type Item, type Step, World } from './world.ts';

const update = (previous: Pod, object: Pod) => changeSet<Pod>({ updated: [{ previous, object }] });
const add = (...added: Pod[]) => changeSet<Pod>({ added });
const remove = (...deleted: Pod[]) => changeSet<Pod>({ deleted });
const first = (...added: Pod[]) => changeSet<Pod>({ added, reset: true });

function sources() {
  return [new Subject<ChangeSet<Pod>>(), new Subject<ChangeSet<Pod>>()] as const;
}

// What no view shows is reported, after the test.
beforeAll(() => {
  config.onUnhandledError = () => undefined;
});

describe('liveUnion with names', () => {
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
    expect(() => liveUnion({ 'a/b': EMPTY })).toThrow(/^liveUnion: "a\/b" is not a name/);
    expect(() => liveUnion({ '': EMPTY })).toThrow(TypeError);
    expect(() => liveUnion({ a: {} as never })).toThrow(
      /^liveUnion: the source a is no Observable/,
    );
    expect(() => liveUnion([EMPTY, {} as never])).toThrow(/^liveUnion: the source 1 is no/);
  });

  it('Q46: has the rows of all sources for the compiler, and takes no ordered stream', () => {
    const one$ = of(changeSet<Pod>({}));
    const other$ = of(changeSet<Item>({}));
    expectTypeOf(liveUnion({ one: one$, other: other$ })).toExtend<
      import('rxjs').Observable<ChangeSet<Pod | Item>>
    >();
    expectTypeOf(liveUnion([one$, other$])).toExtend<
      import('rxjs').Observable<ChangeSet<Pod | Item>>
    >();
    const sorted$ = one$.pipe(liveSort<Pod>(() => 0));
    // @ts-expect-error the union would forget the order
    liveUnion([sorted$]);
    // @ts-expect-error the union would forget the order
    liveUnion({ sorted: sorted$ });
  });
});

describe('liveUnion without names', () => {
  it('Q47: a row stays until no source has it, and two filters of one informer tell it once', () => {
    const world = new World(true);
    const low$ = world.changes$.pipe(liveFilter<Item>(({ n }) => n < 6));
    const high$ = world.changes$.pipe(liveFilter<Item>(({ n }) => n > 3));
    const mirror = new Mirror(liveUnion([low$, high$]));
    const set = (n: number): Step => ({ name: 'a', what: 'set', n, group: 'a' });
    for (const n of [1, 5, 9, 2]) world.commit([set(n)]);
    world.commit([{ ...set(7), what: 'recreate' }]);
    world.commit([{ ...set(0), what: 'delete' }]);
    const shown = mirror.sets.map(({ changes }) =>
      changes.map(({ id, object }) => `${object === undefined ? '-' : ''}${id}`).join(),
    );
    expect(shown).toEqual(['', 'u0', 'u0', 'u0', 'u0', '-u0,u1', '-u1']);
  });

  it('Q47: different objects of one id are kept out and listed until the sources agree', () => {
    const [one, other] = sources();
    const view = toView(liveUnion([one, other]));
    view.subscribe(() => undefined);
    const shown = () => view.getSnapshot().rows.map(({ metadata }) => metadata.resourceVersion);
    const errors = () => view.getSnapshot().status.refusedRows.map(({ error }) => String(error));
    const [web, web2] = [pod('web', 1), pod('web', 2)];
    one.next(first(web));
    other.next(first(web));
    expect([shown(), errors()]).toEqual([['1'], []]);
    inTurn(() => {
      one.next(update(web, web2));
      other.next(update(web, web2));
    });
    expect([shown(), errors()]).toEqual([['2'], []]);
    one.next(update(web2, pod('web', 3)));
    expect([shown(), errors()]).toEqual([
      [],
      [
        'Error: liveUnion: the sources 0 and 1 have different objects of the id "u-web" (web). Give the sources names, or make them of one stream that makes each object once (liveShare)',
      ],
    ]);
    other.next(remove(web2));
    expect([shown(), errors()]).toEqual([['3'], []]);
  });

  it('Q47: different ids of one key are kept out and listed until one is left', () => {
    const [east, west] = sources();
    const mirror = new Mirror(liveUnion([east, west]));
    const refusedRows: number[] = [];
    const view = toView(liveUnion([east, west]));
    view.status$.subscribe((status) => refusedRows.push(status.refusedRows.length));
    const [inEast, inWest] = [pod('shop/web', 1, 'u1'), pod('shop/web', 1, 'u2')];
    east.next(first(inEast, pod('shop/db', 1)));
    west.next(first(inWest));
    expect(mirror.ids()).toEqual(['u-shop/db']);
    expect(refusedRows.at(-1)).toBe(2);
    east.next(remove(inEast));
    expect([mirror.ids(), refusedRows.at(-1)]).toEqual([['u-shop/db', 'u2'], 0]);
    // An object that is created again under its name, in one source or in both.
    west.next(changeSet<Pod>({ deleted: [inWest], added: [inEast] }));
    east.next(add(inEast));
    inTurn(() => {
      for (const each of [east, west])
        each.next(changeSet<Pod>({ deleted: [inEast], added: [inWest] }));
    });
    expect([mirror.ids(), refusedRows.at(-1)]).toEqual([['u-shop/db', 'u2'], 0]);
  });
});

describe('any union', () => {
  it('Q48: is synced when all sources are, and completes when all have; what has completed keeps its rows', () => {
    for (const unite of [
      (one: Subject<ChangeSet<Pod>>, other: Subject<ChangeSet<Pod>>) => liveUnion([one, other]),
      (one: Subject<ChangeSet<Pod>>, other: Subject<ChangeSet<Pod>>) => liveUnion({ one, other }),
    ]) {
      const [one, other] = sources();
      const mirror = new Mirror(unite(one, other));
      one.next(first(pod('a', 1)));
      expect(mirror.sets.at(-1)?.synced).toBe(false);
      one.complete();
      other.next(first());
      expect([mirror.sets.at(-1)?.synced, mirror.sets.length]).toEqual([true, 2]);
      other.next(add(pod('b', 1)));
      expect([mirror.ids().length, mirror.completed]).toEqual([2, false]);
      other.complete();
      expect(mirror.completed).toBe(true);
      const failing = sources();
      const failed = new Mirror(unite(...failing));
      failing[1].error(new Error('gone'));
      expect(failed.error).toEqual(new Error('gone'));
    }
  });

  it('Q48: a union of no sources is empty, synced and complete', () => {
    for (const union$ of [liveUnion([]), liveUnion({})]) {
      const mirror = new Mirror(union$);
      expect([mirror.ids(), mirror.sets[0]?.synced, mirror.completed]).toEqual([[], true, true]);
    }
  });
});
