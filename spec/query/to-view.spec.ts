/** Views: the rows of a page, `toView()`. */
import {
  ApiError,
  type ChangeSet,
  conflateByKey,
  createSharedInformer,
  describeStatus,
  type InformerStatus,
  liveFilter,
  liveShare,
  liveUnion,
  snapshotOf,
  toView,
  type View,
} from 'rx-informer';
import { changeSet } from 'rx-informer/testing';
import {
  BehaviorSubject,
  config,
  defer,
  EMPTY,
  firstValueFrom,
  merge,
  Observable,
  of,
  Subject,
  throwError,
} from 'rxjs';
import { switchMap, take } from 'rxjs/operators';
import { afterEach, describe, expect, it } from 'vitest';
import { type Pod, pod } from '../delta/pods.ts';
import { allReported } from '../support/errors.ts';
import { isProduction } from '../support/production.ts';
import {
  added,
  deleted,
  scriptedInformer,
  scriptedListWatch,
  pod as servedPod,
} from '../support/scripted-list-watch.ts';

/** A source that emits its state synchronously, as an informer does, and counts its subscribers. */
function live(...first: Pod[]) {
  const sets = new Subject<ChangeSet<Pod>>();
  const count = { open: 0, opened: 0 };
  const source = new Observable<ChangeSet<Pod>>((subscriber) => {
    count.open++;
    count.opened++;
    subscriber.next(changeSet({ added: first, reset: true, cause: 'snapshot' }));
    subscriber.add(() => count.open--);
    subscriber.add(sets.subscribe(subscriber));
  });
  return { sets, count, view: toView<Pod>()(source) };
}

const names = (rows: readonly Pod[]) => rows.map(({ metadata }) => metadata.name).join();
const update = (previous: Pod, object: Pod) => changeSet<Pod>({ updated: [{ previous, object }] });

/** Subscribes like React's useSyncExternalStore, in which a call during the subscription or a new array would loop. */
function reactStore(view: Pick<View<Pod>, 'subscribe' | 'getSnapshot'>) {
  let subscribing = true;
  let renders = 0;
  const leave = view.subscribe(() => {
    renders++;
    expect(subscribing).toBe(false);
    expect(view.getSnapshot().rows).toBe(view.getSnapshot().rows);
  });
  subscribing = false;
  return { leave, renders: () => renders };
}

afterEach(() => {
  config.onUnhandledError = null;
});

it('I112: a listener that is no function is refused at once, and holds nothing', () => {
  const { view, count } = live(pod('a', 1));
  const snapshots = snapshotOf([view]);
  for (const each of [view, view.select('a'), snapshots]) {
    for (const listener of [{ next: () => undefined }, undefined, null]) {
      expect(() => each.subscribe(listener as never)).toThrow(
        /^subscribe: the listener is (?:\{next\}|undefined|null); it must be a function/,
      );
    }
  }
  expect(count.opened).toBe(0);
});

describe('a view over stop and start', () => {
  it('Q5: subscribes again when its informer runs again, if it was given the status', async () => {
    const { source, informer } = scriptedInformer();
    const view = toView<Pod>({ status$: informer.status$ })(informer.changes$);
    const { leave, renders } = reactStore(view);
    source.listed(1, servedPod('a', 1));
    await informer.stop();
    expect([names(view.getSnapshot().rows), source.open]).toEqual(['a', 0]);
    const rendered = renders();
    informer.start();
    source.listed(2, servedPod('b', 2));
    expect(names(view.getSnapshot().rows)).toBe('b');
    expect(renders()).toBeGreaterThan(rendered);
    await informer.stop();
    leave();
    informer.start();
    source.listed(3, servedPod('c', 3));
    expect(names(view.getSnapshot().rows)).toBe('b');
  });

  it('Q5: a pipe that completes by itself has ended, also after a stop and a start', async () => {
    const { source, informer } = scriptedInformer();
    source.listed(1, servedPod('a', 1));
    informer.start();
    const view = toView<Pod>({ status$: informer.status$ })(informer.changes$.pipe(take(2)));
    const { leave } = reactStore(view);
    source.send(added(servedPod('b', 2)));
    source.send(added(servedPod('c', 3)));
    expect(names(view.getSnapshot().rows)).toBe('a,b');
    await informer.stop();
    informer.start();
    source.listed(4, servedPod('d', 4));
    expect(names(view.getSnapshot().rows)).toBe('a,b');
    leave();
  });

  // These make a stream of their own, so that only the sets tell where the rows come from.
  const passedOn: Record<
    string,
    (source$: Observable<ChangeSet<Pod>>) => Observable<ChangeSet<Pod>>
  > = {
    nothing: (source$) => source$,
    defer: (source$) => defer(() => source$),
    switchMap: (source$) => new BehaviorSubject(0).pipe(switchMap(() => source$)),
    merge: (source$) => merge(source$, EMPTY),
    'new Observable': (source$) => new Observable((subscriber) => source$.subscribe(subscriber)),
  };
  const all = Object.entries(passedOn).flatMap(([name, behind]) => [
    [name, 'a view', behind] as const,
    [
      name,
      'a filter',
      (source$: Observable<ChangeSet<Pod>>) => behind(source$).pipe(liveFilter(() => true)),
    ] as const,
    [
      name,
      'liveShare',
      (source$: Observable<ChangeSet<Pod>>) => behind(source$).pipe(liveShare()),
    ] as const,
  ]);

  it.each(all)(
    'Q14: shows the status of the informer behind %s, in %s',
    async (_name, _in, behind) => {
      const { source, informer } = scriptedInformer();
      const view = toView(behind(informer.changes$));
      view.subscribe(() => undefined);
      source.listed(1, servedPod('a', 1));
      expect(names(view.getSnapshot().rows)).toBe('a');
      expect(view.getSnapshot().status.phase).toBe('watching');
    },
  );

  it.each(all)(
    'Q5: shows the stop of the informer behind %s, in %s',
    async (_name, _in, behind) => {
      const { source, informer } = scriptedInformer();
      const view = toView(behind(informer.changes$));
      view.subscribe(() => undefined);
      source.listed(1, servedPod('a', 1));
      await informer.stop();
      expect(names(view.getSnapshot().rows)).toBe('a');
      const status = { phase: 'stopped', live: false };
      expect(view.getSnapshot()).toMatchObject({ synced: false, status });
    },
  );

  it.each(all)(
    'Q5: follows the next run of the informer behind %s, in %s',
    async (_name, _in, behind) => {
      const { source, informer } = scriptedInformer();
      const view = toView(behind(informer.changes$));
      view.subscribe(() => undefined);
      source.listed(1, servedPod('a', 1));
      await informer.stop();
      informer.start();
      source.listed(2, servedPod('b', 2));
      expect(names(view.getSnapshot().rows)).toBe('b');
    },
  );

  it.each([
    ['a view', (source$: Observable<ChangeSet<Pod>>) => source$],
    ['a filter', (source$: Observable<ChangeSet<Pod>>) => source$.pipe(liveFilter(() => true))],
    ['liveShare', (source$: Observable<ChangeSet<Pod>>) => source$.pipe(liveShare())],
  ])(
    'Q14: behind switchMap only the informer counts that it has switched to, in %s',
    async (_in, over) => {
      const sources = [scriptedListWatch(), scriptedListWatch()] as const;
      const [one, other] = sources.map((source) => createSharedInformer(source));
      const chosen$ = new BehaviorSubject(one);
      const view = toView(over(chosen$.pipe(switchMap((informer) => informer?.changes$ ?? EMPTY))));
      view.subscribe(() => undefined);
      one?.start();
      sources[0].listed(1, servedPod('a', 1));
      expect(view.getSnapshot().status.phase).toBe('watching');
      chosen$.next(other);
      expect(view.getSnapshot()).toMatchObject({ synced: false, status: { phase: 'listing' } });
      sources[1].listed(2, servedPod('b', 2));
      expect(names(view.getSnapshot().rows)).toBe('b');
      await one?.stop();
      expect(view.getSnapshot()).toMatchObject({ synced: true, status: { phase: 'watching' } });
      await other?.stop();
      expect(view.getSnapshot()).toMatchObject({ synced: false, status: { phase: 'stopped' } });
    },
  );

  it('Q85: is not live before its rows, which wait for a frame', async () => {
    const { source, informer } = scriptedInformer();
    const frame = new Subject<void>();
    const view = informer.changes$.pipe(conflateByKey({ ready: () => frame }), toView());
    const seen: string[] = [];
    const note = () => {
      const { rows, synced, status } = view.getSnapshot();
      seen.push(`${rows.length} ${synced} ${status.live}`);
    };
    const leave = view.subscribe(note);
    source.listed(1, servedPod('a', 1));
    await informer.whenSynced();
    expect(informer.status.live).toBe(true);
    expect(view.getSnapshot().status.live).not.toBe(true);
    for (let at = 0; at < 3; at++) frame.next();
    expect(seen.at(-1)).toBe('1 true true');
    expect(seen.filter((line) => line.endsWith('true') && line !== '1 true true')).toEqual([]);
    leave();
  });

  it('Q85: is not live over the rows of a former subscription, until this one has rows', () => {
    const { source, informer } = scriptedInformer();
    source.listed(1, servedPod('a', 1), servedPod('b', 1));
    informer.start();
    let gate: Subject<void> | null = null;
    const view = informer.changes$.pipe(conflateByKey({ ready: () => gate }), toView());
    view.subscribe(() => undefined)();
    expect([names(view.getSnapshot().rows), view.getSnapshot().status.live]).toEqual(['a,b', true]);
    source.send(deleted(servedPod('a', 2)));
    const opened = new Subject<void>();
    gate = opened;
    let changes = 0;
    const leave = view.subscribe(() => changes++);
    // The informer is synced, so the present rows come with the next frame, and nobody shows "Loading" until then.
    const { rows, synced, stale, status } = view.getSnapshot();
    expect([names(rows), synced, stale, status.live]).toEqual(['a,b', true, undefined, false]);
    gate = null;
    opened.next();
    expect([names(view.getSnapshot().rows), view.getSnapshot().status.live]).toEqual(['b', true]);
    expect(changes).toBe(1);
    leave();
  });

  it('Q85: shows the phase while a parameter has no value, and is not live', async () => {
    const { source, informer } = scriptedInformer();
    source.listed(1, servedPod('a', 1));
    const predicate$ = new Subject<() => boolean>();
    const view = informer.changes$.pipe(liveFilter(predicate$), toView());
    const leave = view.subscribe(() => undefined);
    await informer.whenSynced();
    expect(view.getSnapshot().status).toMatchObject({ phase: 'watching', live: false });
    predicate$.next(() => true);
    expect(view.getSnapshot().status.live).toBe(true);
    leave();
  });

  it('Q85: is stopped while one informer is stopped, whatever the other one is doing', async () => {
    const sources = [scriptedListWatch(), scriptedListWatch()] as const;
    const [one, other] = [createSharedInformer(sources[0]), createSharedInformer(sources[1])];
    const view = toView(liveUnion({ one: one.changes$, other: other.changes$ }));
    const leave = view.subscribe(() => undefined);
    for (const source of sources) source.listed(1, servedPod('a', 1));
    await other.whenSynced();
    await one.stop();
    expect(view.getSnapshot().status.phase).toBe('stopped');
    sources[1].fail(ApiError.local('Network', 'the connection was lost'));
    expect(other.status.phase).toBe('backoff');
    expect(view.getSnapshot().status).toMatchObject({ phase: 'stopped', live: false });
    leave();
    await Promise.all([one.stop(), other.stop()]);
  });

  it('Q85: has the error of a failed pipe and is not live, until it subscribes to the pipe again', async () => {
    const { source, informer } = scriptedInformer();
    const failures = new Subject<never>();
    const view = toView<Pod>({ status$: informer.status$ })(merge(informer.changes$, failures));
    const first: unknown[] = [];
    view.items$.subscribe({ error: (error: Error) => first.push(error.message) });
    const shown: unknown[] = [];
    const leave = view.subscribe(() => {
      const { rows, status, error } = view.getSnapshot();
      shown.push([names(rows), status.live, error?.message]);
    });
    source.listed(1, servedPod('a', 1));
    await informer.whenSynced();
    failures.error(new Error('first'));
    expect(shown.at(-1)).toEqual(['a', false, 'first']);
    expect(describeStatus(view.getSnapshot()).text).toBe('Not live: first');
    expect(first).toEqual(['first']);
    leave();
  });

  it('Q5: does not subscribe endlessly to a source that completes synchronously', () => {
    let opened = 0;
    const source = new Observable<ChangeSet<Pod>>((subscriber) => {
      opened++;
      subscriber.complete();
    });
    const status$ = of({ phase: 'watching' } as InformerStatus);
    const leave = toView<Pod>({ status$ })(source).subscribe(() => undefined);
    expect(opened).toBe(1);
    leave();
  });
});

describe('toView', () => {
  it('Q1: never calls a listener during the subscription, although it has rows then (React)', () => {
    const [a, b] = [pod('a', 1), pod('b', 1)];
    const { sets, view, count } = live(a);
    expect([names(view.getSnapshot().rows), count.opened]).toEqual(['', 0]);
    const first = reactStore(view);
    expect([names(view.getSnapshot().rows), first.renders()]).toEqual(['a', 0]);
    const second = reactStore(view);
    sets.next(changeSet({ added: [b] }));
    expect([first.renders(), second.renders(), names(view.getSnapshot().rows)]).toEqual([
      1,
      1,
      'a,b',
    ]);
    first.leave();
    first.leave();
    expect(count.open).toBe(1);
    second.leave();
    expect(count).toEqual({ open: 0, opened: 1 });
    // The last rows stay readable.
    expect(names(view.getSnapshot().rows)).toBe('a,b');
  });

  it('Q1: returns one frozen array until something changes; a resync and a change of `synced` change nothing', () => {
    const [a, a2, b] = [pod('a', 1), pod('a', 2), pod('b', 1)];
    const { sets, view } = live(a, b);
    const empty = view.getSnapshot().rows;
    expect(Object.isFrozen(empty)).toBe(true);
    view.subscribe(() => undefined);
    const rows = view.getSnapshot().rows;
    expect(rows).toEqual([a, b]);
    expect(Object.isFrozen(rows)).toBe(!isProduction);
    sets.next(changeSet<Pod>({}));
    sets.next(update(a, a));
    expect(view.getSnapshot().rows).toBe(rows);
    sets.next(update(a, a2));
    // In the order in which they were added, a changed row in its place.
    expect(view.getSnapshot().rows).toEqual([a2, b]);
    expect(rows).toEqual([a, b]);
  });

  it('Q1: items$ has its rows synchronously, then after each set (Svelte, Angular)', () => {
    const { sets, view, count } = live(pod('a', 1));
    const seen: string[] = [];
    const subscription = view.items$.subscribe((rows) => seen.push(names(rows)));
    expect(seen).toEqual(['a']);
    sets.next(changeSet({ added: [pod('b', 1)] }));
    sets.next(changeSet({ deleted: [pod('a', 1)] }));
    expect(seen).toEqual(['a', 'a,b', 'b']);
    subscription.unsubscribe();
    expect(count.open).toBe(0);
    const cut: string[] = [];
    view.items$.pipe(take(1)).subscribe((rows) => cut.push(names(rows)));
    expect([cut, count.open]).toEqual([['a'], 0]);
  });

  it('Q1: a subscriber also receives a commit that is made while it handles its first rows', () => {
    const { sets, view } = live(pod('a', 1));
    const seen: string[] = [];
    view.items$.subscribe((rows) => {
      seen.push(names(rows));
      if (seen.length === 1) sets.next(changeSet({ added: [pod('b', 1)] }));
    });
    expect(seen).toEqual(['a', 'a,b']);
  });

  it('Q1: a listener that unsubscribes meanwhile is not called; one that throws does not affect the others', async () => {
    const { sets, view } = live(pod('a', 1));
    const reported = new Promise((resolve) => {
      config.onUnhandledError = resolve;
    });
    const calls: string[] = [];
    let leave: () => void = () => undefined;
    view.subscribe(() => {
      calls.push('first');
      leave();
      throw new Error('boom');
    });
    leave = view.subscribe(() => calls.push('second'));
    view.subscribe(() => calls.push('third'));
    sets.next(changeSet({ added: [pod('b', 1)] }));
    expect(calls).toEqual(['first', 'third']);
    expect(await reported).toEqual(new Error('boom'));
  });

  it('Q1: the status is passed on, and the end of the source completes items$', () => {
    const informer = createSharedInformer(scriptedListWatch());
    const phases: (string | undefined)[] = [];
    toView<Pod>({ status$: informer.status$ })(EMPTY).status$.subscribe(({ phase }) =>
      phases.push(phase),
    );
    expect(phases).toEqual(['idle']);
    const view = toView<Pod>()(of(changeSet({ added: [pod('a', 1)] })));
    expect(view.getSnapshot().status).toEqual({ refusedRows: [] });
    const seen: string[] = [];
    view.items$.subscribe({
      next: (rows) => seen.push(names(rows)),
      complete: () => seen.push('|'),
    });
    expect(seen).toEqual(['a', '|']);
  });

  it('Q2: a reset replaces all rows', () => {
    const { sets, view } = live(pod('a', 1), pod('b', 1));
    const { renders } = reactStore(view);
    sets.next(changeSet({ added: [pod('c', 1), pod('b', 1)], reset: true }));
    expect([names(view.getSnapshot().rows), renders()]).toEqual(['c,b', 1]);
    sets.next(changeSet<Pod>({ reset: true }));
    expect(names(view.getSnapshot().rows)).toBe('');
  });

  it('Q2: a row listener is called only for its row', () => {
    const [a, b, b2] = [pod('a', 1), pod('b', 1), pod('b', 2)];
    const { sets, view, count } = live(a, b);
    const [rowA, rowB] = [view.select('u-a'), view.select('u-b')];
    expect(rowA.getSnapshot()).toBeUndefined();
    const calls: string[] = [];
    const leaveA = rowA.subscribe(() => calls.push('a'));
    const leaveB = rowB.subscribe(() => calls.push('b'));
    expect([rowA.getSnapshot(), rowB.getSnapshot(), calls]).toEqual([a, b, []]);
    sets.next(update(b, b2));
    expect([calls.splice(0), rowB.getSnapshot()]).toEqual([['b'], b2]);
    sets.next(update(b2, b2));
    sets.next(changeSet({ added: [a, b2], reset: true }));
    expect(calls).toEqual([]);
    sets.next(changeSet({ added: [a], reset: true }));
    expect([calls.splice(0), rowB.getSnapshot()]).toEqual([['b'], undefined]);
    // Another object of the same name is another row.
    sets.next(changeSet({ deleted: [a], added: [pod('a', 9, 'a2')] }));
    expect([calls.splice(0), rowA.getSnapshot()]).toEqual([['a'], undefined]);
    leaveB();
    leaveB();
    expect(count.open).toBe(1);
    leaveA();
    expect(count.open).toBe(0);
    rowA.subscribe(() => calls.push('again'));
    sets.next(update(a, pod('a', 3)));
    expect(calls).toEqual(['again']);
  });

  it('Q3: an async loop receives the latest rows, and intermediate rows are skipped', async () => {
    const { sets, view, count } = live(pod('a', 1));
    const seen: string[] = [];
    for await (const rows of view) {
      seen.push(names(rows));
      if (seen.length === 3) break;
      sets.next(changeSet({ added: [pod(`b${seen.length}`, 1)] }));
      sets.next(changeSet({ added: [pod(`c${seen.length}`, 1)] }));
    }
    expect(seen).toEqual(['a', 'a,b1,c1', 'a,b1,c1,b2,c2']);
    expect([count.open, sets.observed]).toEqual([0, false]);
  });

  it('Q3: the loop ends with its source, after the last rows', async () => {
    const seen: string[] = [];
    for await (const rows of toView<Pod>()(of(changeSet({ added: [pod('a', 1)] })))) {
      seen.push(names(rows));
    }
    expect(seen).toEqual(['a']);
    const { sets, view } = live();
    const loop = view[Symbol.asyncIterator]();
    await loop.next();
    const waiting = loop.next();
    sets.complete();
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  it('Q3: a break while the loop waits unsubscribes immediately', async () => {
    const { view, count } = live(pod('a', 1));
    const loop = view[Symbol.asyncIterator]();
    await loop.next();
    const waiting = loop.next();
    await Promise.resolve();
    const left = loop.return?.();
    expect(await left).toEqual({ done: true, value: undefined });
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(count.open).toBe(0);
    // A loop that never began holds nothing.
    await view[Symbol.asyncIterator]().return?.();
    expect(count.opened).toBe(1);
  });

  it('Q3: a loop that throws leaves nothing behind', async () => {
    const { view, count } = live(pod('a', 1));
    const loop = async () => {
      for await (const _rows of view) throw new Error('boom');
    };
    await expect(loop()).rejects.toThrow('boom');
    expect(count.open).toBe(0);
    expect(names(await firstValueFrom(view.items$))).toBe('a');
  });
});

describe('a view of a pipe that fails', () => {
  const failing = () => {
    const source = new Subject<ChangeSet<Pod>>();
    return { source, view: toView<Pod>()(source) };
  };

  it('Q3: passes the error to items$ and the loop', async () => {
    const { source, view } = failing();
    const received: string[] = [];
    view.items$.subscribe({ error: (error) => received.push(String(error)) });
    const loop = (async () => {
      for await (const rows of view) received.push(`${rows.length} rows`);
    })();
    await new Promise((resolve) => setImmediate(resolve));
    source.error(new Error('a projection threw'));
    await expect(loop).rejects.toThrow('a projection threw');
    expect(received).toEqual(['0 rows', 'Error: a projection threw']);
  });

  it('Q3: reports the error if there are only listeners, and can be subscribed again', async () => {
    const reported: string[] = [];
    config.onUnhandledError = (error) => reported.push(String(error));
    const { source, view } = failing();
    view.subscribe(() => undefined);
    source.error(new Error('boom'));
    await allReported();
    expect(reported).toEqual(['Error: boom']);
    expect(view.getSnapshot().rows).toEqual([]);
  });

  it.each([
    [
      'items$',
      (view: View<unknown>, end: (error: unknown) => void) =>
        void view.items$.subscribe({ error: end }),
    ],
    [
      'status$',
      (view: View<unknown>, end: (error: unknown) => void) =>
        void view.status$.subscribe({ error: end }),
    ],
    [
      'a loop',
      async (view: View<unknown>, end: (error: unknown) => void) => {
        try {
          for await (const _ of view);
        } catch (error) {
          end(error);
        }
      },
    ],
  ])(
    'Q3: does not report an error that %s receives, also if the pipe errors at once',
    async (_name, read) => {
      const reported: string[] = [];
      config.onUnhandledError = (error) => reported.push(String(error));
      const view = toView(throwError(() => new Error('boom')));
      const received: string[] = [];
      read(view, (error) => received.push(String(error)));
      await allReported();
      expect([received, reported]).toEqual([['Error: boom'], []]);
      // The reader has left, so that nobody receives the error of the next run.
      view.subscribe(() => undefined);
      await allReported();
      expect(reported).toEqual(['Error: boom']);
    },
  );
});
