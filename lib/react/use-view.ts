/** `useView`, the rows of a view. */
import { useContext } from 'react';
import type { View } from '../query/view/view.ts';
import { ProvidedContext } from './provider.ts';
import type { ProviderState } from './provider-state.ts';
import type { ListResult } from './row-result.ts';
import { type RowSource, sourceOfView } from './row-source.ts';
import { useRows } from './use-rows.ts';

/**
 * Returns the rows of a view of your own, such as one with a join or with groups, and renders again when they change.
 * It needs no provider. The pace is that of the view: put `conflateByKey({ ready: animationFrames() })`
 * before `toView()`.
 *
 * Create the view outside of components, or with `useMemo` or `useState`. While another view is not synced, the rows of
 * the former one stand, with `stale: true`. `undefined` asks for nothing. On a server the answer is empty, and the view
 * is not subscribed.
 *
 * @example
 * ```ts
 * import { createElement } from 'react';
 * import { renderToString } from 'react-dom/server';
 * import { toView } from 'rx-informer';
 * import { useView } from 'rx-informer/react';
 * import { NEVER } from 'rxjs';
 *
 * const view = toView(NEVER); // informer.changes$.pipe(…, conflateByKey({ ready: animationFrames() }), toView())
 * const Total = () => `${useView(view).total} rows`;
 * renderToString(createElement(Total)); // => '0 rows'
 * ```
 */
export function useView<Row>(view: View<Row> | undefined): ListResult<Row> {
  const provided = useContext(ProvidedContext);
  return useRows(
    view === undefined
      ? undefined
      : { identity: [view, provided], kept: 0, source: () => watched(provided, view) },
  );
}

/** The source of a view whose status is one of those that the provider merges. */
function watched<Row>(provided: ProviderState | undefined, view: View<Row>): RowSource<Row> {
  const source = sourceOfView(view);
  if (provided === undefined) return source;
  const subscribe = (listener: () => void): (() => void) => {
    const leave = source.subscribe(listener);
    const unwatch = provided.watch(source, view);
    return () => {
      leave();
      unwatch();
    };
  };
  return { subscribe, getSnapshot: source.getSnapshot };
}
