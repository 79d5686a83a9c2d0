/** `useView`, the rows of a view. */
import type { View } from '../query/view/view.ts';
import type { ListResult } from './row-result.ts';
import { sourceOfView } from './row-source.ts';
import { useRows } from './use-rows.ts';

/**
 * Returns the rows of a view of your own, such as one with a join or with groups, and renders again when they change.
 * It needs no provider. The pace is that of the view: `toView({ ready: animationFrames() })`.
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
 * const view = toView(NEVER); // informer.changes$.pipe(…, toView({ ready: animationFrames() }))
 * const Total = () => `${useView(view).total} rows`;
 * renderToString(createElement(Total)); // => '0 rows'
 * ```
 */
export function useView<Row>(view: View<Row> | undefined): ListResult<Row> {
  return useRows(
    view === undefined
      ? undefined
      : { identity: [view], kept: 0, source: () => sourceOfView(view) },
  );
}
