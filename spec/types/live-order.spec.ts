/** Which operators accept an order, checked by `tsc`. */
import {
  type ChangeStream,
  conflateByKey,
  count,
  createSharedInformer,
  liveDistinct,
  liveFilter,
  liveFlatMap,
  liveGroupBy,
  liveJoin,
  liveMap,
  liveMergeMap,
  liveShare,
  liveSort,
  liveTop,
  liveUnion,
  liveUntil,
  liveWindow,
  type OrderedChangeStream,
  toView,
  type View,
} from 'rx-informer';
import { of } from 'rxjs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type Pod, scriptedListWatch } from '../support/scripted-list-watch.ts';

describe('the types of ordered streams', () => {
  const { changes$ } = createSharedInformer(scriptedListWatch());
  const byName = liveSort<Pod>((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
  const sorted = changes$.pipe(byName);

  it('an order is kept by the operators that do not lose it', () => {
    expectTypeOf(sorted).toEqualTypeOf<OrderedChangeStream<Pod>>();
    expectTypeOf(sorted.pipe(liveWindow(0, 10))).toEqualTypeOf<OrderedChangeStream<Pod>>();
    expectTypeOf(sorted.pipe(liveMap(({ metadata }) => metadata.name))).toEqualTypeOf<
      OrderedChangeStream<string>
    >();
    expectTypeOf(sorted.pipe(byName)).toEqualTypeOf<OrderedChangeStream<Pod>>();
    expectTypeOf(sorted.pipe(liveShare())).toEqualTypeOf<OrderedChangeStream<Pod>>();
    expectTypeOf(sorted.pipe(liveUntil(() => undefined))).toEqualTypeOf<OrderedChangeStream<Pod>>();
    expectTypeOf(sorted.pipe(conflateByKey())).toEqualTypeOf<OrderedChangeStream<Pod>>();
    expectTypeOf(sorted.pipe(toView())).toEqualTypeOf<View<Pod>>();
    expectTypeOf(changes$.pipe(liveTop(3, () => 0))).toEqualTypeOf<OrderedChangeStream<Pod>>();
    expect(sorted.pipe(toView()).getSnapshot().rows).toEqual([]);
  });

  it('the operators that would lose it do not accept it', () => {
    // @ts-expect-error: filter first
    sorted.pipe(liveFilter(() => true));
    // @ts-expect-error: make rows first
    sorted.pipe(liveFlatMap(({ metadata }) => [metadata]));
    // @ts-expect-error: make rows first
    sorted.pipe(liveMergeMap(() => of(1)));
    // @ts-expect-error: group first
    sorted.pipe(liveGroupBy(() => 'a', { pods: count() }));
    // @ts-expect-error: find the values first
    sorted.pipe(liveDistinct(({ metadata }: Pod) => metadata.name));
    // @ts-expect-error: join first
    sorted.pipe(liveJoin(changes$, { on: { owner: 'left' } }));
    // @ts-expect-error: nor as the other side of a join
    changes$.pipe(liveJoin(sorted, { on: { owner: 'left' } }));
    // @ts-expect-error: unite first
    expect(() => liveUnion({ a: sorted })).not.toThrow();
  });

  it('a window and an order need each other', () => {
    // @ts-expect-error: rows without an order have no positions
    changes$.pipe(liveWindow(0, 10));
    // @ts-expect-error: nor is an ordered stream one without
    const unordered: ChangeStream<Pod> = sorted;
    expect(unordered).toBe(sorted);
  });
});
