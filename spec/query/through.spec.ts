/** Joins with the owners of owners, `through()`, and joins of rows that are no objects any more: which object each was made of. */

import {
  type ChangeSet,
  count,
  type JoinBySelector,
  type JoinedRow,
  type JoinThrough,
  type KubernetesObject,
  liveFlatMap,
  liveGroupBy,
  liveJoin,
  liveMap,
  liveShare,
  liveUnion,
  through,
  toView,
} from 'rx-informer';
import { changeSet } from 'rx-informer/testing';
import {
  BehaviorSubject,
  defer,
  NEVER,
  type Observable,
  of,
  Subject,
  VirtualTimeScheduler,
} from 'rxjs';
import { map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';
import { Mirror } from './mirror.ts';
import { type Item, type Step, World } from './world.ts';

interface Owned extends KubernetesObject {
  readonly metadata: { readonly name: string; readonly uid: string };
}

function owned(uid: string, ...owners: string[]): Owned {
  const ownerReferences = owners.map((owner) => ({
    apiVersion: 'v1',
    kind: 'Owner',
    name: owner,
    uid: owner,
  }));
  return { metadata: { name: uid, uid, ownerReferences } as Owned['metadata'] };
}

function join(owner: 'left' | 'right', more: object = {}) {
  const left = new Subject<ChangeSet<Owned>>();
  const between = new Subject<ChangeSet<Owned>>();
  const right = new Subject<ChangeSet<Owned>>();
  const on = through(between, { owner });
  const mirror = new Mirror<JoinedRow<Owned, Owned>>(
    left.pipe(liveJoin<Owned, Owned>(right, { on, ...more })),
  );
  const shown = () =>
    mirror
      .objects()
      .map((row) => `${row.left.metadata.name}[${row.right.map(({ metadata }) => metadata.name)}]`);
  return { left, between, right, mirror, shown };
}

const first = (...added: Owned[]) => changeSet<Owned>({ added, reset: true } as never);
const add = (...added: Owned[]) => changeSet<Owned>({ added } as never);
const remove = (...deleted: Owned[]) => changeSet<Owned>({ deleted } as never);
const update = (previous: Owned, object: Owned) =>
  changeSet<Owned>({ updated: [{ previous, object }] } as never);

describe('through', () => {
  it('Q89: is synced, and complete, when all three streams are', () => {
    const { left, between, right, shown, mirror } = join('left');
    right.next(first(owned('p1', 'r1'), owned('p2', 'r2'), owned('p3', 'd1'), owned('p4')));
    left.next(first(owned('d1'), owned('d2')));
    expect(mirror.sets.at(-1)?.synced).toBe(false);
    between.next(first(owned('r1', 'd1')));
    expect([shown(), mirror.sets.at(-1)?.synced]).toEqual([['d1[p1]', 'd2[]'], true]);
    for (const each of [left, between]) each.complete();
    expect(mirror.completed).toBe(false);
    right.complete();
    expect(mirror.completed).toBe(true);
  });

  it('Q89: a change of an object between that keeps its owners changes nothing; an error of its stream ends the join', () => {
    let calls = 0;
    const project = (upper: Owned, lower: readonly Owned[]) => {
      calls++;
      return { left: upper, right: lower };
    };
    const { left, between, right, mirror } = join('left', { project });
    right.next(first(owned('p1', 'r1')));
    left.next(first(owned('d1')));
    between.next(first(owned('r1', 'd1')));
    const sets = mirror.sets.length;
    calls = 0;
    const [row] = mirror.objects();
    between.next(update(owned('r1', 'd1'), owned('r1', 'd1')));
    expect([mirror.sets.length, calls]).toEqual([sets, 0]);
    between.next(add(owned('r2', 'd1')));
    right.next(add(owned('p2', 'r2')));
    right.next(remove(owned('p2', 'r2')));
    expect(mirror.objects()[0]?.right).toEqual(row?.right);
    between.error(new Error('gone'));
    expect(mirror.error).toEqual(new Error('gone'));
  });

  it('Q89: a row that was deleted does not return when an object between has other owners', () => {
    const { left, between, right, shown } = join('left');
    right.next(first(owned('p1', 'r1'), owned('p2', 'r1')));
    left.next(first(owned('d1'), owned('d2')));
    between.next(first(owned('r1', 'd1')));
    right.next(remove(owned('p1', 'r1')));
    between.next(update(owned('r1', 'd1'), owned('r1', 'd2')));
    expect(shown()).toEqual(['d1[]', 'd2[p2]']);
  });

  it('Q89: an owner that a map has made a row of its own is found by its id', () => {
    const left$ = of(first(owned('d1'))).pipe(liveMap(({ metadata }) => ({ name: metadata.name })));
    const on = through(of(first(owned('r1', 'd1'))), { owner: 'left' });
    const joined$ = left$.pipe(liveJoin(of(first(owned('p1', 'r1'))), { on, type: 'inner' }));
    const rows = new Mirror<JoinedRow<{ name: string }, Owned>>(joined$ as never).objects();
    expect(rows.map(({ left, right }) => [left.name, right.length])).toEqual([['d1', 1]]);
  });

  it('Q89: a stream or a side that is none is refused, and so is a relation that an Observable emits', () => {
    expect(() => through([] as never, { owner: 'left' })).toThrow(
      /^through: between\$ is .*; it must be a stream/,
    );
    expect(() => through(NEVER, { owner: 'both' as never })).toThrow(
      "through: owner is \"both\"; it must be 'left' or 'right'",
    );
    const on$ = new BehaviorSubject(through(NEVER, { owner: 'left' }));
    const joined$ = of(first()).pipe(liveJoin<Owned, Owned>(NEVER, { on: on$ as never }));
    expect(String(new Mirror(joined$).error)).toMatch(/^TypeError: liveJoin: on is \{.*; it must/);
  });
});

/** The owners of a row are those of the group's letter and, for even numbers, of the next letter. */
const LETTERS = ['a', 'b', 'c', 'd'];
const ownersOf = (above: World, { n, group }: Item): string[] => {
  const at = LETTERS.indexOf(group);
  const names = n === 0 ? [] : n % 2 === 1 ? [group] : [group, LETTERS[(at + 1) % 4] as string];
  // An object that is not there has had another UID, or will have one.
  return names.map((name) => above.items.get(name)?.metadata.uid ?? `no ${name}`);
};

const steps = fc.array(
  fc.record<Step>({
    name: fc.constantFrom(...LETTERS),
    what: fc.constantFrom<Step['what']>('set', 'set', 'delete', 'recreate', 'again'),
    n: fc.nat(4),
    group: fc.constantFrom(...LETTERS),
  }),
  { maxLength: 3 },
);
const changes = fc.oneof(
  { weight: 6, arbitrary: steps.map((commit) => ({ commit })) },
  {
    weight: 1,
    arbitrary: fc
      .uniqueArray(fc.record({ name: fc.constantFrom(...LETTERS), n: fc.nat(4) }), {
        selector: ({ name }) => name,
      })
      .map((reset) => ({ reset })),
  },
);

describe('a join through a third stream', () => {
  it('Q89, Q41: holds the naive answer and keeps what has not changed, over relists of each stream', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('left' as const, 'right' as const),
        fc.array(fc.tuple(fc.nat(2), changes), { maxLength: 40, size: 'max' }),
        (owner, events) => {
          const [top, middle, leaf] = [new World(), new World(), new World()];
          const scheduler = new VirtualTimeScheduler();
          // The owner references stay those of the time at which an object was made.
          const references = new WeakMap<Item, readonly string[]>();
          const objectOf = (above: World) => (item: Item) => {
            if (!references.has(item)) references.set(item, ownersOf(above, item));
            return owned(item.metadata.uid, ...(references.get(item) ?? []));
          };
          const [between$, leaf$] = [
            middle.changes$.pipe(liveMap(objectOf(top), { scheduler })),
            leaf.changes$.pipe(liveMap(objectOf(middle), { scheduler })),
          ];
          const top$ = top.changes$.pipe(liveMap(objectOf(leaf), { scheduler }));
          const on = through(between$, { owner });
          const [left$, right$] = owner === 'left' ? [top$, leaf$] : [leaf$, top$];
          const mirror = new Mirror<JoinedRow<Owned, Owned>>(
            left$.pipe(liveJoin<Owned, Owned>(right$, { on, scheduler })) as never,
          );
          let before = new Map(mirror.rows);
          for (const [at, change] of events) {
            const world = [top, middle, leaf][at] as World;
            if ('commit' in change) world.commit(change.commit);
            else world.reset(change.reset);
            const owns = (upper: Item, lower: Item) =>
              [...middle.items.values()].some(
                (each) =>
                  references.get(each)?.includes(upper.metadata.uid) &&
                  references.get(lower)?.includes(each.metadata.uid),
              );
            const expected = new Map<string, string[]>();
            const [lefts, rights] = owner === 'left' ? [top, leaf] : [leaf, top];
            for (const one of lefts.items.values()) {
              const found = [...rights.items.values()].filter((other) =>
                owner === 'left' ? owns(one, other) : owns(other, one),
              );
              expected.set(one.metadata.uid, found.map(({ metadata }) => metadata.uid).sort());
            }
            expect(mirror.ids()).toEqual([...expected.keys()].sort());
            for (const [id, { object: row }] of mirror.rows) {
              expect(row.right.map(({ metadata }) => metadata.uid)).toEqual(expected.get(id));
              const former = before.get(id)?.object;
              const isSameRight =
                former?.right.length === row.right.length &&
                former.right.every((each, place) => each === row.right[place]);
              if (isSameRight) expect(row.right).toBe(former.right);
              if (isSameRight && former.left === row.left) expect(row).toBe(former);
            }
            before = new Map(mirror.rows);
          }
          mirror.subscription.unsubscribe();
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('join rows', () => {
  type Rows = Observable<ChangeSet<unknown>>;
  type On = { readonly owner: 'left' | 'right' } | JoinBySelector<unknown> | JoinThrough;

  interface Thing extends KubernetesObject {
    readonly parts?: readonly string[];
  }

  /** An object as a server sends it; without a namespace it is cluster-scoped. */
  function thing(name: string, more: object = {}, parts: readonly string[] = []): Thing {
    return { metadata: { name, uid: `uid-of-${name}`, ...more }, parts };
  }

  const owned = (name: string, owner: string, more: object = {}) =>
    thing(name, {
      ownerReferences: [{ apiVersion: 'v1', kind: 'Owner', name: owner, uid: `uid-of-${owner}` }],
      ...more,
    });
  const rows = (...added: readonly Thing[]): Rows =>
    of(changeSet({ added: [...added], reset: true } as never)) as unknown as Rows;

  /** The rows of a join: how the left row is written, and the names of the right ones. */
  function joined(left$: Rows, right$: Rows, on: On) {
    const view = toView(left$.pipe(liveJoin(right$ as never, { on: on as never })));
    const leave = view.subscribe(() => undefined);
    const { rows: all, status } = view.getSnapshot();
    leave();
    const nameOf = (row: unknown) => {
      const { metadata, name } = Object(row) as Thing & { readonly name?: string };
      return metadata?.name ?? name ?? (row as string);
    };
    const shown = (all as readonly { left: unknown; right: readonly unknown[] }[]).map(
      (row) => `${nameOf(row.left)}: ${row.right.map(nameOf).join(' ')}`,
    );
    return { shown, refused: status.refusedRows.map(({ key, error }) => [key, String(error)]) };
  }

  const slim = liveMap((row: unknown) => ({ name: (row as Thing).metadata?.name }));
  const partsOf = liveFlatMap((row: unknown) => (row as Thing).parts);
  const pipe = (source$: Rows, ...operators: readonly unknown[]): Rows =>
    operators.reduce<unknown>(
      (all$, operator) => (operator as (each: unknown) => unknown)(all$),
      source$,
    ) as Rows;
  const named = (east$: Rows, west$: Rows = rows()): Rows =>
    liveUnion({ east: east$, west: west$ }) as Rows;

  describe('a join by owner', () => {
    const owners$ = rows(thing('web', { namespace: 'shop' }, ['a', 'b/c', '100%']));
    const pods$ = rows(owned('web-0', 'web', { namespace: 'shop' }));
    const web = ['web: web-0'];

    it.each<[string, Rows, readonly string[]]>([
      ['a map', pipe(owners$, slim), web],
      ['a union', named(owners$), web],
      ['a map of a union', pipe(named(owners$), slim), web],
      ['a union of maps', named(pipe(owners$, slim)), web],
      ['a union of unions', pipe(named(named(owners$)), slim), web],
      [
        'operators of RxJS',
        pipe(
          named(owners$),
          map((set: unknown) => set),
          liveShare(),
          slim,
        ),
        web,
      ],
      ['parts', pipe(owners$, partsOf), ['100%: web-0', 'a: web-0', 'b/c: web-0']],
      [
        'parts of a union',
        pipe(named(owners$), partsOf),
        ['100%: web-0', 'a: web-0', 'b/c: web-0'],
      ],
      [
        'a map of a union behind defer',
        pipe(
          defer(() => named(owners$)),
          slim,
        ),
        web,
      ],
    ])('Q91: finds the owner of which %s was made', (_name, left$, expected) => {
      const { shown, refused } = joined(left$, pods$, { owner: 'left' });
      expect([shown.sort(), refused]).toEqual([expected, []]);
      // On the other side.
      const { shown: others } = joined(pods$, left$, { owner: 'right' });
      const names = expected.map((each) => each.split(':')[0]);
      expect(others.map((each) => each.slice('web-0: '.length).split(' ').sort())).toEqual([names]);
    });

    it.each<[string, Rows]>([
      ['a map', pipe(owners$, slim)],
      ['a map of a union', pipe(named(owners$), slim)],
      ['parts of a union', pipe(named(owners$), partsOf)],
    ])('Q91: finds the upper owner of which %s was made, with through', (_name, left$) => {
      const between$ = rows(owned('set', 'web', { namespace: 'shop' }));
      const right$ = rows(owned('pod', 'set', { namespace: 'shop' }));
      const { shown } = joined(left$, right$, through(between$ as never, { owner: 'left' }));
      expect(shown.length).toBeGreaterThan(0);
      for (const row of shown) expect(row).toMatch(/: pod$/);
    });

    it('Q91: refuses an owned row and one between that are no objects, because their owners are not known', () => {
      const message = (key: string) => [
        key,
        `TypeError: liveJoin: the row ${key} has no metadata, so its owners are not known; join by owner first, and make other rows behind the join`,
      ];
      const right = joined(owners$, pipe(pods$, slim), { owner: 'left' });
      expect(right).toEqual({ shown: ['web: '], refused: [message('shop/web-0')] });
      const left = joined(pipe(pods$, slim), owners$, { owner: 'right' });
      expect(left).toEqual({ shown: [], refused: [message('shop/web-0')] });
      const between$ = pipe(rows(owned('set', 'web', { namespace: 'shop' })), slim);
      const over = joined(owners$, pods$, through(between$ as never, { owner: 'left' }));
      expect(over).toEqual({ shown: ['web: '], refused: [message('shop/set')] });
    });
  });

  describe('a join by selector', () => {
    const labels = { app: 'web' };
    const on = { selectorOf: () => 'app=web' };
    const services$ = rows(thing('web', { namespace: 'shop' }, ['a', 'b/c']));
    const pods$ = rows(
      thing('near', { namespace: 'shop', labels }),
      thing('far', { namespace: 'till', labels }),
      thing('east', { namespace: 'east', labels }),
    );
    const nodes$ = rows(thing('n1', { labels }));
    const pools$ = rows(thing('pool', {}, ['zone=a', 'zone/b']));
    const template = liveMap((row: unknown) => ({
      metadata: { name: (row as Thing).metadata?.name, labels },
    }));

    it.each<[string, Rows, Rows, readonly string[]]>([
      ['a map', pipe(services$, slim), pods$, ['web: near']],
      ['a map of a union', pipe(named(services$), slim), pods$, ['web: near']],
      ['a union of maps', named(pipe(services$, slim)), pods$, ['web: near']],
      ['parts', pipe(services$, partsOf), pods$, ['a: near', 'b/c: near']],
      ['parts of a union', pipe(named(services$), partsOf), pods$, ['a: near', 'b/c: near']],
      ['parts without a namespace', pipe(pools$, partsOf), nodes$, ['zone/b: n1', 'zone=a: n1']],
      ['such parts of a union', pipe(named(pools$), partsOf), nodes$, ['zone/b: n1', 'zone=a: n1']],
      ['a map of such a row of a union', pipe(named(pools$), slim), nodes$, ['pool: n1']],
      ['the metadata of a template', pipe(services$, template), pods$, ['web: near']],
      ['such metadata on the right', services$, pipe(pods$, template), ['web: near']],
      [
        'a map of a union behind defer',
        pipe(
          defer(() => named(services$)),
          slim,
        ),
        pods$,
        ['web: near'],
      ],
    ])(
      'Q91: selects in the namespace of the object of which %s was made',
      (_name, left$, right$, expected) => {
        expect(joined(left$, right$, on).shown.sort()).toEqual(expected);
      },
    );

    it('Q91: groups have no object, so they are in no namespace, whatever their key says', () => {
      const groups$ = pipe(
        named(pods$),
        liveGroupBy(() => 'shop/all', { pods: count() }),
        liveMap((row: unknown) => (row as { readonly key: string }).key),
      );
      expect(joined(groups$, pods$, on).shown).toEqual(['shop/all: ']);
      const across = joined(groups$, pods$, { ...on, acrossNamespaces: true }).shown;
      expect(across).toEqual(['shop/all: east far near']);
    });
  });
});
