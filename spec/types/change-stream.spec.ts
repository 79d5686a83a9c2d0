/** The types of a `pipe` that ends in a view, checked by `tsc`. */

import {
  animationFrames,
  atMostEvery,
  type ChangeSet,
  type ChangeStream,
  conflateByKey,
  createSharedInformer,
  liveFilter,
  liveMap,
  liveShare,
  liveSort,
  liveUntil,
  liveWindow,
  toView,
  type View,
  type ViewSnapshot,
  whenDrained,
} from 'rx-informer';
import { firstValueFrom, type Observable } from 'rxjs';
import { filter, map } from 'rxjs/operators';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type Pod, scriptedListWatch } from '../support/scripted-list-watch.ts';

describe('a stream of change sets', () => {
  const { changes$ } = createSharedInformer(scriptedListWatch());

  it('a pipe may end in a view', () => {
    expectTypeOf(changes$.pipe(toView())).toEqualTypeOf<View<Pod>>();
    expectTypeOf(changes$.pipe(conflateByKey(), toView())).toEqualTypeOf<View<Pod>>();
    expect(changes$.pipe(conflateByKey(), toView()).getSnapshot().rows).toEqual([]);
  });

  it('a pipe of eight live operators may end in a view', () => {
    const view = changes$.pipe(
      liveUntil(() => undefined),
      liveFilter(({ metadata }) => metadata.name !== ''),
      liveMap(({ metadata }) => ({ name: metadata.name, size: 1 })),
      liveShare(),
      liveSort((one, other) => one.size - other.size),
      liveWindow(0, 10),
      liveMap(({ name }) => ({ title: name })),
      conflateByKey(),
      toView(),
    );
    expectTypeOf(view).toEqualTypeOf<View<{ title: string }>>();
    expect(view.getSnapshot().rows).toEqual([]);
  });

  it('a view may be made by a call, with any demand', () => {
    expectTypeOf(toView(changes$)).toEqualTypeOf<View<Pod>>();
    const ready = atMostEvery(200);
    expectTypeOf(toView(changes$.pipe(conflateByKey({ ready })))).toEqualTypeOf<View<Pod>>();
    const frames$ = changes$.pipe(conflateByKey({ ready: animationFrames() }));
    expectTypeOf(frames$.pipe(toView())).toEqualTypeOf<View<Pod>>();
    expectTypeOf(toView<Pod>()(changes$)).toEqualTypeOf<View<Pod>>();
    expectTypeOf(toView(changes$).getSnapshot()).toEqualTypeOf<ViewSnapshot<Pod>>();
    // @ts-expect-error a row has no such field
    expect(toView(changes$).getSnapshot().rows[0]?.nonsense).toBeUndefined();
    // @ts-expect-error not a demand
    conflateByKey({ ready: () => 5 });
    whenDrained(process.stdout);
    whenDrained(new WritableStream().getWriter());
    // @ts-expect-error not a stream
    expect(() => whenDrained({})()).not.toThrow();
  });

  it('a stream of change sets is an Observable', () => {
    expectTypeOf(changes$).toEqualTypeOf<ChangeStream<Pod>>();
    expectTypeOf(changes$.pipe(map((set) => set.rev))).toEqualTypeOf<Observable<number>>();
    expectTypeOf(changes$.pipe(filter((set) => set.synced))).toEqualTypeOf<
      Observable<ChangeSet<Pod>>
    >();
    expectTypeOf(firstValueFrom(changes$)).toEqualTypeOf<Promise<ChangeSet<Pod>>>();
    // @ts-expect-error a change set has no such field
    changes$.pipe(map((set) => set.nonsense));
    expect(typeof changes$.subscribe).toBe('function');
  });
});
