/** Several views as one: `snapshotOf()`. */
import {
  type ChangeSet,
  liveFilter,
  snapshotOf,
  toView,
  type View,
  type ViewSnapshot,
} from 'rx-informer';
import { changeSet, inTurn } from 'rx-informer/testing';
import { defer, firstValueFrom, NEVER, of, Subject } from 'rxjs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type Pod, pod } from '../delta/pods.ts';
import { type Item, type Step, World } from './world.ts';

const set = (name: string, n: number): Step => ({ name, what: 'set', n, group: 'a' });

function parted() {
  const world = new World(true);
  const odd = toView(world.changes$.pipe(liveFilter<Item>(({ n }) => n % 2 === 1)));
  const even = toView(world.changes$.pipe(liveFilter<Item>(({ n }) => n % 2 === 0)));
  return { world, odd, even, page: snapshotOf([odd, even]) };
}

const names = (snapshots: readonly ViewSnapshot<Item>[]) =>
  snapshots.map(({ rows }) => rows.map(({ metadata }) => metadata.name).join('')).join('|');

describe('snapshotOf', () => {
  it('Q49: has a value synchronously, and emits once a commit, never a row in two views or in none', () => {
    const { world, page } = parted();
    world.commit([set('a', 1), set('b', 2)]);
    const seen: string[] = [];
    const subscription = page.snapshots$.subscribe((snapshots) => seen.push(names(snapshots)));
    expect(seen).toEqual(['a|b']);
    world.commit([set('a', 2), set('b', 1)]);
    world.commit([set('c', 1)]);
    world.commit([]);
    expect(seen).toEqual(['a|b', 'b|a', 'bc|a']);
    subscription.unsubscribe();
    world.commit([set('c', 2)]);
    expect(seen.length).toBe(3);
  });

  it('Q49: is one frozen array until a view changes, and does not change in the middle of a turn (React)', () => {
    const { world, odd, page } = parted();
    const { getSnapshot, subscribe } = page;
    expect(getSnapshot()).toBe(getSnapshot());
    const during: string[] = [];
    odd.subscribe(() => during.push(names(getSnapshot())));
    let calls = 0;
    const leave = subscribe(() => {
      calls++;
      during.push(`told ${names(getSnapshot())}`);
    });
    const before = getSnapshot();
    expect([calls, Object.isFrozen(before), before.length]).toEqual([0, true, 2]);
    world.commit([set('a', 1)]);
    world.commit([set('a', 2)]);
    expect(during).toEqual(['|', 'told a|', 'a|', 'told |a']);
    expect([calls, getSnapshot() === before]).toEqual([2, false]);
    const now = getSnapshot();
    world.commit([{ ...set('a', 2), what: 'again' }]);
    expect([calls, getSnapshot() === now]).toEqual([2, true]);
    leave();
    leave();
    world.commit([set('b', 1)]);
    expect(calls).toBe(2);
  });

  it('Q49: several subscribers hold the views once, and a later one reads what the first does', () => {
    let open = 0;
    const sets = new Subject<ChangeSet<Pod>>();
    const view = toView(sets);
    const counted: View<Pod> = {
      ...view,
      subscribe: (listener) => {
        open++;
        const leave = view.subscribe(listener);
        return () => {
          open--;
          leave();
        };
      },
    };
    const page = snapshotOf([counted]);
    const leaves = [page.subscribe(() => undefined), page.subscribe(() => undefined)];
    expect(open).toBe(1);
    let seen = 0;
    inTurn(() => {
      sets.next(changeSet({ added: [pod('a', 1)], reset: true }));
      leaves.push(page.subscribe(() => seen++));
    });
    expect([seen, page.getSnapshot()[0].rows.length]).toEqual([1, 1]);
    for (const leave of leaves) leave();
    expect(open).toBe(0);
  });

  it('Q49: completes when all views have, after their last rows, and errors if one does', () => {
    const [one, other] = [new Subject<ChangeSet<Pod>>(), new Subject<ChangeSet<Pod>>()];
    const seen: string[] = [];
    const follow = (page$: { subscribe: (observer: object) => unknown }) =>
      page$.subscribe({
        next: (all: readonly ViewSnapshot<Pod>[]) =>
          seen.push(all.map(({ rows }) => rows.length).join()),
        error: (error: unknown) => seen.push(String(error)),
        complete: () => seen.push('|'),
      });
    follow(snapshotOf([toView(one), toView(other)]).snapshots$);
    one.complete();
    inTurn(() => {
      other.next(changeSet({ added: [pod('a', 1)], reset: true }));
      other.complete();
    });
    expect(seen.splice(0)).toEqual(['0,0', '0,1', '|']);
    follow(snapshotOf([]).snapshots$);
    expect(seen.splice(0)).toEqual(['', '|']);
    const failing = new Subject<ChangeSet<Pod>>();
    follow(snapshotOf([toView(failing)]).snapshots$);
    failing.error(new Error('gone'));
    expect(seen).toEqual(['0', 'Error: gone']);
  });

  it('Q49: a subscriber that leaves with its first value subscribes no view again', async () => {
    let subscriptions = 0;
    const counted = toView(
      defer(() => {
        subscriptions++;
        return NEVER;
      }),
    );
    expect((await firstValueFrom(snapshotOf([counted, counted]).snapshots$)).length).toBe(2);
    expect(subscriptions).toBe(1);
  });

  it('Q49: has the type of each view', () => {
    const pods = toView(of(changeSet<Pod>({})));
    const items = toView(of(changeSet<Item>({})));
    expectTypeOf(snapshotOf([pods, items]).getSnapshot()).toEqualTypeOf<
      readonly [ViewSnapshot<Pod>, ViewSnapshot<Item>]
    >();
  });
});
