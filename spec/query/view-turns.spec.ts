/** What a view shows, and when it says so: snapshots, status, turns and restarts. */
import {
  type ChangeSet,
  conflateByKey,
  createChangeSet,
  createSharedInformer,
  deliver,
  type InformerStatus,
  liveFilter,
  liveSort,
  liveWindow,
  toView,
  type View,
} from 'rx-informer';
import { changeSet, inTurn } from 'rx-informer/testing';
import { BehaviorSubject, config, NEVER, Observable, Subject } from 'rxjs';
import { map, takeUntil } from 'rxjs/operators';
import { afterEach, describe, expect, it } from 'vitest';
import { type Pod, pod } from '../delta/pods.ts';
import { eventually } from '../support/patience.ts';
import {
  added,
  scriptedInformer,
  scriptedListWatch,
  pod as servedPod,
} from '../support/scripted-list-watch.ts';
import { type Item, World } from './world.ts';

const names = (view: View<Pod>) =>
  view
    .getSnapshot()
    .rows.map(({ metadata }) => metadata.name)
    .join();

function live(...first: Pod[]) {
  const sets = new Subject<ChangeSet<Pod>>();
  const source = new Observable<ChangeSet<Pod>>((subscriber) => {
    subscriber.next(changeSet({ added: first, reset: true, cause: 'snapshot' }));
    return sets.subscribe(subscriber);
  });
  return { sets, source };
}

const send = (sets: Subject<ChangeSet<Pod>>, name: string) =>
  sets.next(changeSet({ added: [pod(name, 1)] }));

function counted(view: Pick<View<Pod>, 'subscribe'>) {
  let calls = 0;
  const leave = view.subscribe(() => calls++);
  return { leave, calls: () => calls };
}

afterEach(() => {
  config.onUnhandledError = null;
});

describe('the snapshot of a view', () => {
  it('Q11: is one frozen object until the rows, the total, `synced` or the status change', () => {
    const status$ = new BehaviorSubject({ phase: 'listing' } as InformerStatus);
    const { sets, source } = live(pod('a', 1));
    const view = toView(source, { status$ });
    const seen = [view.getSnapshot()];
    view.subscribe(() => undefined);
    const look = () => {
      const now = view.getSnapshot();
      expect(now).toBe(view.getSnapshot());
      expect([Object.isFrozen(now), Object.isFrozen(now.status)]).toEqual([true, true]);
      const isNew = now !== seen.at(-1);
      seen.push(now);
      return isNew;
    };
    expect(look()).toBe(true);
    sets.next(changeSet<Pod>({}));
    expect(look()).toBe(false);
    status$.next({ ...status$.value });
    expect(look()).toBe(false);
    status$.next({ phase: 'watching' } as InformerStatus);
    expect(look()).toBe(true);
    expect(seen.at(-1)?.rows).toBe(seen.at(-2)?.rows);
    sets.next(changeSet<Pod>({ synced: false }));
    expect([look(), seen.at(-1)?.synced, seen.at(-2)?.synced]).toEqual([true, false, true]);
    send(sets, 'b');
    expect([look(), seen.at(-1)?.total, seen.at(-2)?.total]).toEqual([true, 2, 1]);
    expect(seen[0]).toEqual({ rows: [], total: 0, synced: false, status: { refusedRows: [] } });
  });

  it('Q11: survives an unsubscription and a subscription that change nothing (StrictMode)', () => {
    const status$ = new BehaviorSubject({ phase: 'watching' } as InformerStatus);
    const view = toView(live(pod('a', 1), pod('b', 1)).source, { status$ });
    view.subscribe(() => undefined)();
    const shown = view.getSnapshot();
    for (let times = 0; times < 2; times++) {
      const { leave, calls } = counted(view);
      expect([view.getSnapshot() === shown, calls()]).toEqual([true, 0]);
      leave();
      expect(view.getSnapshot()).toBe(shown);
    }
  });

  it('Q11: a reset with the same rows in another order is another list', () => {
    const [a, b] = [pod('a', 1), pod('b', 1)];
    const { sets, source } = live(a, b);
    const view = toView(source);
    const { calls } = counted(view);
    const { rows } = view.getSnapshot();
    sets.next(changeSet({ added: [a, b], reset: true }));
    expect([view.getSnapshot().rows === rows, calls()]).toEqual([true, 0]);
    sets.next(changeSet({ added: [b, a], reset: true }));
    expect([names(view), calls()]).toEqual(['b,a', 1]);
  });

  it('S16: freezes its list of rows only under the mutation guard', () => {
    for (const mutationGuard of ['freeze', 'off'] as const) {
      const world = new World();
      world.commit([{ name: 'a', what: 'set', n: 1, group: 'a' }]);
      const sorted$ = world.changes$.pipe(liveSort((x, y) => x.n - y.n));
      for (const view of [
        toView(world.changes$, { mutationGuard }),
        toView(sorted$, { mutationGuard }),
        toView(sorted$.pipe(liveWindow(0, 5)), { mutationGuard }),
      ]) {
        view.subscribe(() => undefined);
        expect(Object.isFrozen(view.getSnapshot().rows)).toBe(mutationGuard === 'freeze');
        world.commit([{ name: 'b', what: 'recreate', n: 0, group: 'a' }]);
        expect(view.getSnapshot().rows).toHaveLength(2);
      }
    }
  });

  it('Q13: has the rows in the order of the pipe, and the total from before a window', () => {
    const world = new World();
    const count = 5;
    for (let n = 0; n < count; n++) {
      world.commit([{ name: `p${n}`, what: 'set', n: (n * 3) % count, group: 'a' }]);
    }
    const sorted$ = world.changes$.pipe(liveSort((x, y) => x.n - y.n));
    const view = toView(sorted$.pipe(liveWindow(1, 2)));
    const within = toView(sorted$.pipe(liveWindow(1, 2), liveWindow(1, 1)));
    within.subscribe(() => undefined);
    let calls = 0;
    view.subscribe(() => calls++);
    const shown = () => {
      const { rows, total } = view.getSnapshot();
      return [rows.map(({ n }) => n), total, calls];
    };
    expect(shown()).toEqual([[1, 2], 5, 0]);
    world.commit([{ name: 'last', what: 'set', n: 9, group: 'a' }]);
    expect(shown()).toEqual([[1, 2], 6, 1]);
    expect(within.getSnapshot()).toMatchObject({ rows: [{ n: 2 }], total: 6 });
    world.commit([{ name: 'first', what: 'set', n: -1, group: 'a' }]);
    expect(shown()).toEqual([[0, 1], 7, 2]);
    // A row that is not in the window is absent for the view.
    expect(view.select('u0').getSnapshot()?.n).toBe(0);
    expect(view.select('u4').getSnapshot()).toBeUndefined();
  });
});

describe('an order without a total', () => {
  it('Q13: has the total of its rows', () => {
    const world = new World();
    world.commit([{ name: 'a', what: 'set', n: 1, group: 'a' }]);
    const sorted$ = world.changes$.pipe(liveSort((one, other) => one.n - other.n));
    // As an operator of a user may make it.
    const own$ = sorted$.pipe(
      map(({ total: _, order, changes, ...head }) =>
        createChangeSet<Item>({ ...head, order }, changes),
      ),
    );
    const view = toView(own$);
    view.subscribe(() => undefined);
    expect(view.getSnapshot().total).toBe(1);
    view.select('u0');
    world.commit([{ name: 'b', what: 'set', n: 2, group: 'a' }]);
    expect(view.getSnapshot().total).toBe(2);
  });
});

describe('the status of a view', () => {
  it('Q14: merges several informers, and keeps running the one that was not stopped', async () => {
    const [sourceA, sourceB] = [scriptedListWatch(), scriptedListWatch()];
    // Without a linger, so that an informer ends with its last subscriber.
    const [a, b] = [
      createSharedInformer(sourceA, { lingerMs: 0 }),
      createSharedInformer(sourceB, { lingerMs: 0 }),
    ];
    const predicate$ = b.changes$.pipe(map(() => () => true));
    const view: View<Pod> = a.changes$.pipe(liveFilter(predicate$), toView());
    const { leave } = counted(view);
    expect(view.getSnapshot().status.phase).toBe('listing');
    sourceA.listed(1, servedPod('a', 1));
    expect(view.getSnapshot().status).toMatchObject({
      phase: 'listing',
      synced: false,
      live: false,
    });
    sourceB.listed(1, servedPod('x', 1));
    const { status } = view.getSnapshot();
    expect(status).toMatchObject({ synced: true, generation: 1, refusedItems: 0 });
    expect([status.phase, status.scopes, status.audit]).toEqual([
      a.status.phase,
      undefined,
      undefined,
    ]);
    await b.stop();
    expect([view.getSnapshot().status.phase, names(view)]).toEqual(['stopped', 'a']);
    const requests = sourceA.asked.length;
    b.start();
    sourceB.listed(2, servedPod('y', 2));
    expect([b.status.generation, a.status.generation]).toEqual([2, 1]);
    expect([names(view), sourceA.asked.length]).toEqual(['a', requests]);
    sourceA.send(added(servedPod('c', 3)));
    expect(names(view)).toBe('a,c');
    leave();
    await Promise.all([a.stop(), b.stop()]);
  });

  it('Q15: lists the refused rows, which stay listed beside the last rows', () => {
    const reported: unknown[] = [];
    config.onUnhandledError = (error) => reported.push(error);
    const world = new World();
    const picky = (row: { readonly n: number }) => {
      if (row.n < 0) throw new Error('negative');
      return true;
    };
    world.commit([{ name: 'a', what: 'set', n: -1, group: 'a' }]);
    const filtered$ = world.changes$.pipe(liveFilter(picky));
    const [view, other] = [toView(filtered$), toView(filtered$)];
    let calls = 0;
    const leave = view.subscribe(() => calls++);
    const leaveOther = other.subscribe(() => undefined);
    const { refusedRows } = view.getSnapshot().status;
    expect(refusedRows).toMatchObject([{ operator: 'liveFilter', id: 'u0', key: 'a' }]);
    expect(Object.isFrozen(refusedRows)).toBe(true);
    world.commit([{ name: 'b', what: 'set', n: -2, group: 'a' }]);
    expect([view.getSnapshot().status.refusedRows.length, calls]).toEqual([2, 1]);
    leaveOther();
    const last = view.getSnapshot();
    leave();
    expect([view.getSnapshot(), calls]).toEqual([last, 1]);
    expect(view.getSnapshot()).toBe(last);
    expect(reported).toEqual([]);
  });

  it('Q15: lists the refused rows of a run that has ended until the next run has rows', () => {
    const world = new World();
    world.commit([{ name: 'a', what: 'set', n: -1, group: 'a' }]);
    let isOpen = new Subject<void>();
    const positive = ({ n }: Item) => {
      if (n < 0) throw new Error('negative');
      return true;
    };
    const source$ = new Observable<ChangeSet<Item>>((subscriber) =>
      world.changes$.pipe(takeUntil(isOpen)).subscribe(subscriber),
    );
    const view = toView(liveFilter(positive)(source$));
    view.subscribe(() => undefined);
    const refusedRows = () => view.getSnapshot().status.refusedRows.map(({ key }) => key);
    expect(refusedRows()).toEqual(['a']);
    const ended = isOpen;
    isOpen = new Subject();
    ended.next();
    expect(refusedRows()).toEqual(['a']);
    world.commit([{ name: 'a', what: 'set', n: 1, group: 'a' }]);
    view.subscribe(() => undefined);
    expect([refusedRows(), view.getSnapshot().rows.length]).toEqual([[], 1]);
  });
});

describe('the listeners of a view', () => {
  it('Q16: are called once a turn, after everything that it changes', async () => {
    const { source, informer } = scriptedInformer();
    const view = informer.changes$.pipe(toView());
    const seen: string[] = [];
    view.subscribe(() => {
      const { rows, synced, status } = view.getSnapshot();
      seen.push(`${rows.length} ${synced} ${status.synced}`);
    });
    seen.length = 0;
    source.listed(1, servedPod('a', 1), servedPod('b', 1));
    expect(seen.at(-1)).toBe('2 true true');
    expect(seen.every((each) => each === '2 true true' || each.endsWith('false false'))).toBe(true);
    seen.length = 0;
    source.send(added(servedPod('c', 2)), added(servedPod('d', 3)));
    expect(seen).toEqual(['4 true true']);
    await informer.stop();

    const { sets, source: rows$ } = live();
    const status$ = new BehaviorSubject({ phase: 'listing' } as InformerStatus);
    const several = toView(rows$, { status$ });
    const row = counted(several.select('u-x'));
    const all = counted(several);
    inTurn(() => {
      send(sets, 'x');
      status$.next({ phase: 'watching' } as InformerStatus);
      send(sets, 'y');
      expect([all.calls(), row.calls()]).toEqual([0, 0]);
    });
    expect([all.calls(), row.calls()]).toEqual([1, 1]);
  });

  it('Q16: a listener may commit, subscribe, unsubscribe and read', () => {
    const { sets, source } = live(pod('a', 1));
    const view = toView(source);
    const seen: string[] = [];
    let late: (() => void) | undefined;
    const leave = view.subscribe(() => {
      seen.push(`first ${names(view)}`);
      if (seen.length === 1) {
        late = view.subscribe(() => seen.push(`late ${names(view)}`));
        send(sets, 'c');
        // The change is applied now; the listeners are called after this one.
        expect(names(view)).toBe('a,b,c');
      }
    });
    view.subscribe(() => seen.push(`second ${names(view)}`));
    send(sets, 'b');
    expect(seen).toEqual(['first a,b', 'second a,b,c', 'first a,b,c', 'late a,b,c']);
    late?.();
    leave();
  });

  it('Q16: a listener that removes all subscribers ends the notification', () => {
    const { sets, source } = live(pod('a', 1));
    const view = toView(source);
    const calls: string[] = [];
    const leaves: (() => void)[] = [];
    for (const name of ['one', 'two']) {
      leaves.push(
        view.subscribe(() => {
          calls.push(name);
          for (const leave of leaves) leave();
        }),
      );
    }
    send(sets, 'b');
    expect([calls, sets.observed]).toEqual([['one'], false]);
  });

  it('Q2: a row that is absent is undefined, and its listener is called when it appears and leaves', () => {
    const { sets, source } = live();
    const view = toView(source);
    const row = view.select('u-x');
    const { calls, leave } = counted(row);
    expect([row.getSnapshot(), calls()]).toEqual([undefined, 0]);
    send(sets, 'y');
    expect(calls()).toBe(0);
    send(sets, 'x');
    expect([row.getSnapshot()?.metadata.name, calls()]).toEqual(['x', 1]);
    sets.next(changeSet({ deleted: [pod('x', 1)] }));
    expect([row.getSnapshot(), calls()]).toEqual([undefined, 2]);
    leave();
    expect(sets.observed).toBe(false);
  });

  it('Q16: a demand before the view delays the rows, and a loop skips what it did not show', async () => {
    const frame = new Subject<void>();
    const { sets, source } = live(pod('a', 1));
    const view = toView(conflateByKey<Pod>({ ready: () => frame })(source));
    const { calls } = counted(view);
    const looped: number[] = [];
    const loop = (async () => {
      for await (const rows of view) looped.push(rows.length);
    })();
    expect([names(view), calls()]).toEqual(['', 0]);
    frame.next();
    expect([names(view), calls()]).toEqual(['a', 1]);
    for (const name of ['b', 'c', 'd']) send(sets, name);
    expect([names(view), view.select('u-b').getSnapshot(), calls()]).toEqual(['a', undefined, 1]);
    frame.next();
    expect([names(view), calls()]).toEqual(['a,b,c,d', 2]);
    await eventually(() => expect(looped.at(-1)).toBe(4));
    sets.complete();
    await loop;
    expect(looped.length).toBeLessThanOrEqual(3);
  });

  it('Q16: a loop continues with other rows only, not after a change of the status', async () => {
    const status$ = new BehaviorSubject({ phase: 'listing' } as InformerStatus);
    const { sets, source } = live(pod('a', 1));
    const looped: string[] = [];
    const view = toView(source, { status$ });
    const loop = (async () => {
      for await (const rows of view) looped.push(rows.map(({ metadata }) => metadata.name).join());
    })();
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    await turn();
    status$.next({ phase: 'watching' } as InformerStatus);
    await turn();
    send(sets, 'b');
    await turn();
    sets.complete();
    await loop;
    expect(looped).toEqual(['a', 'a,b']);
  });

  it('Q19: the error of a run that took the place of a slow one reaches items$', async () => {
    const { source, informer } = scriptedInformer();
    const broken = new Subject<never>();
    const ready = new Subject<void>();
    const { changes$ } = deliver(informer, { kind: 'conflate', ready: () => ready });
    let runs = 0;
    const pipe$ = new Observable<ChangeSet<Pod>>((subscriber) => {
      runs++;
      subscriber.add(broken.subscribe(subscriber));
      return changes$.subscribe(subscriber);
    });
    const view = toView(pipe$, { status$: informer.status$ });
    let failure: unknown;
    view.items$.subscribe({ error: (error) => (failure = error) });
    source.listed(1, servedPod('a', 1));
    void informer.stop();
    informer.start();
    await eventually(() => expect(runs).toBe(2));
    broken.error(new Error('boom'));
    expect(failure).toEqual(new Error('boom'));
  });

  it('Q5: the first rows of a run are not stale if the former runs had none', () => {
    const sets = new Subject<ChangeSet<Pod>>();
    const source = new Observable<ChangeSet<Pod>>((subscriber) => {
      subscriber.next(changeSet<Pod>({ reset: true, synced: false }));
      return sets.subscribe(subscriber);
    });
    const status$ = new BehaviorSubject({ phase: 'listing', synced: false } as InformerStatus);
    const view = toView(source, { status$ });
    view.subscribe(() => undefined)();
    view.subscribe(() => undefined);
    sets.next(changeSet({ added: [pod('a', 1)], synced: false }));
    const { synced, stale } = view.getSnapshot();
    expect([names(view), synced, stale]).toEqual(['a', false, undefined]);
  });

  it('Q19: the end of a run does not end the next one', () => {
    let runs = 0;
    const source = new Observable<ChangeSet<Pod>>((subscriber) => {
      subscriber.next(changeSet({ added: [pod('a', 1)], reset: true, cause: 'snapshot' }));
      if (++runs === 1) subscriber.complete();
    });
    const view = toView(source);
    const ended: number[] = [];
    view.items$.subscribe({ complete: () => ended.push(1) });
    const second = view.items$.subscribe({ complete: () => ended.push(2) });
    expect([runs, ended]).toEqual([2, [1]]);
    second.unsubscribe();
  });

  it('Q19: a subscriber of a stopped view makes one subscription', async () => {
    const { informer } = scriptedInformer();
    let runs = 0;
    const pipe$ = new Observable<ChangeSet<Pod>>((subscriber) => {
      runs++;
      return informer.changes$.subscribe(subscriber);
    });
    const view = toView(pipe$, { status$: informer.status$ });
    const first = counted(view);
    await informer.stop();
    const second = counted(view);
    expect([runs, informer.status.generation]).toEqual([2, 2]);
    first.leave();
    second.leave();
    await informer.stop();
    expect(toView(NEVER).getSnapshot().rows).toEqual([]);
  });
});
