/** The types of a `pipe` that ends in a view, checked by `tsc`. */

import {
  type ChangeSet,
  type ChangeStream,
  conflateByKey,
  createSharedInformer,
  toView,
  type View,
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
