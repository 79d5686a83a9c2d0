/** `liveTop`: the first rows of an order. */
import type { Observable } from 'rxjs';
import type { AnyChangeSet } from '../../store/change-set.ts';
import type { OrderedChangeStream } from '../../store/change-stream.ts';
import type { LiveOptions, Param } from '../engine/operator.ts';
import { type Compare, liveSort } from './live-sort.ts';
import { liveWindow } from './live-window.ts';

/**
 * Keeps the first `n` rows in the order of `compare`, like {@link liveSort} and `liveWindow(0, n)`.
 *
 * ```
 * source        +c---+a----+b---|
 * liveTop(2)    [c]--[ac]--[ab]-|   each set's order
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { liveTop, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const pod = (name: string, restarts: number) => ({ metadata: { name, uid: name }, restarts });
 * const changes$ = of(changeSet({ added: [pod('web', 3), pod('db', 0), pod('job', 7)] }));
 * const top = liveTop<ReturnType<typeof pod>>(2, (one, other) => other.restarts - one.restarts);
 * const view = toView(changes$.pipe(top));
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows.map(({ metadata }) => metadata.name); // => ['job', 'web']
 * ```
 */
export function liveTop<T, O = undefined>(
  n: Param<number>,
  compare: Param<Compare<T>>,
  options: LiveOptions = {},
): (source: Observable<AnyChangeSet<T, O>>) => OrderedChangeStream<T> {
  const window = liveWindow(0, n, options);
  return (source) => window(liveSort<T, O>(compare, options)(source));
}
