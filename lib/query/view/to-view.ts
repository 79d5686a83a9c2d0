/** `toView`, the last step of a pipe of change sets: it makes rows for a page. */
import { isObservable, type Observable } from 'rxjs';
import type { InformerStatus } from '../../informer/status/status.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import { defaultMutationGuard, type MutationGuard } from '../../store/mutation-guard.ts';
import { RowsView } from './rows-view.ts';
import type { View } from './view.ts';
import { ViewRows } from './view-rows.ts';

/** Options of {@link toView}. */
export interface ToViewOptions {
  /**
   * The status of an informer that the pipe does not know of, because it is not made of an informer's stream.
   * @defaultValue the status of the informers that the pipe begins with
   */
  readonly status$?: Observable<InformerStatus> | undefined;
  /** @defaultValue 'off' if NODE_ENV is 'production', else 'freeze', also where it is not set */
  readonly mutationGuard?: MutationGuard | undefined;
}

/** Makes a view of a stream. */
export type ToView = <T, O>(source: Observable<AnyChangeSet<T, O>>) => View<T>;

/**
 * Creates a {@link View} of a pipe of change sets. It is the last step of the pipe, or a function of a stream, and returns
 * a view, not an Observable.
 *
 * The source is subscribed when the view has its first subscriber. A `reset` set replaces all rows. If the source completes,
 * the view keeps its rows; if it errors, `items$` does.
 *
 * The rows change with each set. A page that paints needs no more than one a frame: put
 * `conflateByKey({ ready: animationFrames() })` before the view.
 *
 * Costs O(1) for each changed row, and a new list of all rows when they are read after a change. So end a long pipe with
 * {@link liveWindow} if a page shows only a part.
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const web = { metadata: { name: 'web', uid: 'u1', resourceVersion: '5' } };
 * const view = toView(of(changeSet({ added: [web] }))); // with an informer: informer.changes$.pipe(toView())
 * const leave = view.subscribe(() => undefined);
 * view.getSnapshot().rows.length; // => 1
 * view.getSnapshot().synced; // => true
 * view.select('u1').getSnapshot() === web; // => true
 * leave();
 * ```
 */
export function toView(options?: ToViewOptions): ToView;
export function toView<T>(
  options?: ToViewOptions,
): <O>(source: Observable<AnyChangeSet<T, O>>) => View<T>;
export function toView<T, O>(
  source: Observable<AnyChangeSet<T, O>>,
  options?: ToViewOptions,
): View<T>;
export function toView(
  first?: Observable<AnyChangeSet<unknown>> | ToViewOptions,
  second?: ToViewOptions,
): View<unknown> | ToView {
  if (isObservable(first)) return viewOf(first, second ?? {});
  return (source) => viewOf(source, first ?? {});
}

function viewOf<T, O>(source: Observable<AnyChangeSet<T, O>>, options: ToViewOptions): View<T> {
  const { status$, mutationGuard = defaultMutationGuard() } = options;
  return new RowsView({ source, status$, rows: new ViewRows<T>(mutationGuard === 'freeze') });
}
