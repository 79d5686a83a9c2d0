/** Joins with the owners of owners: `through()`. */

import {
  type ChangeSet,
  type JoinedRow,
  type KubernetesObject,
  liveJoin,
  liveMap,
  through,
} from 'rx-informer';
import { changeSet } from 'rx-informer/testing';
import { BehaviorSubject, NEVER, of, Subject, VirtualTimeScheduler } from 'rxjs';
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
  it('Q89: joins Deployments with the Pods of their ReplicaSets, in any order of arrival', () => {
    const { left, between, right, shown, mirror } = join('left');
    right.next(first(owned('p1', 'r1'), owned('p2', 'r2'), owned('p3', 'd1'), owned('p4')));
    left.next(first(owned('d1'), owned('d2')));
    expect(mirror.sets.at(-1)?.synced).toBe(false);
    between.next(first(owned('r1', 'd1')));
    expect([shown(), mirror.sets.at(-1)?.synced]).toEqual([['d1[p1]', 'd2[]'], true]);
    between.next(add(owned('r2', 'd1')));
    expect(shown()).toEqual(['d1[p1,p2]', 'd2[]']);
    // A ReplicaSet is adopted by another Deployment, and one is deleted.
    between.next(update(owned('r2', 'd1'), owned('r2', 'd2')));
    between.next(remove(owned('r1', 'd1')));
    expect(shown()).toEqual(['d1[]', 'd2[p2]']);
    right.next(remove(owned('p2', 'r2')));
    between.next(first(owned('r1', 'd2'), owned('r3', 'd1')));
    right.next(add(owned('p5', 'r3', 'r1')));
    expect(shown()).toEqual(['d1[p5]', 'd2[p1,p5]']);
  });

  it('Q89: with `owner: right` each Pod is joined with the owners of its owner, and keeps its row if it has none', () => {
    const { left, between, right, shown, mirror } = join('right');
    left.next(first(owned('p1', 'r1'), owned('p2', 'r2')));
    right.next(first(owned('d1')));
    between.next(first(owned('r1', 'd1')));
    expect(shown()).toEqual(['p1[d1]', 'p2[]']);
    left.next(remove(owned('p1', 'r1')));
    between.next(update(owned('r1', 'd1'), owned('r1', 'd1', 'd2')));
    between.next(add(owned('r2', 'd1')));
    expect(shown()).toEqual(['p2[d1]']);
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
