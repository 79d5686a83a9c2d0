/** The hooks that suspend until a worker has answered. They have the types of the hooks that await informers. */
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { Resource } from '../../meta/resource.ts';
import type { LiveQuery } from '../../query/live-query/live-query.ts';
import type { WorkerQuery } from '../../worker/carried-query.ts';
import type { ListResult } from '../row-result.ts';
import { useAwaited } from '../suspense/use-awaited.ts';
import type { useSuspenseList as UseSuspenseList } from '../suspense/use-suspense.ts';
import { type AskedQuery, useWorkerState } from './worker-provider.ts';

function useAnswer(hook: string, query: AskedQuery): ListResult<unknown> {
  return useAwaited(useWorkerState(hook).asked(hook, query));
}

/**
 * Like {@link useQuery}, but suspends until the answer is complete, as `useSuspenseQuery` of `rx-informer/react` does. An error
 * that blocks the first answer is thrown, for the nearest error boundary: the server refuses the requests, the worker refuses the
 * query, or nobody is signed in. Later errors are in `error`, and while another worker is started, the rows are there with
 * `stale: true`.
 *
 * If the nearest `<Suspense>` is above the {@link WorkerProvider}, connect outside of components. If React discards the render, the
 * query ends a second after its answer, or after 31 seconds without one. On a server the answer is empty, and nothing is asked.
 *
 * @example
 * ```ts no-run
 * import { createElement, Suspense } from 'react';
 * import { liveQuery } from 'rx-informer';
 * import { useSuspenseQuery } from 'rx-informer/react/worker';
 * import { pods } from 'rx-informer/resources';
 *
 * const failed = liveQuery({
 *   from: pods,
 *   where: { path: 'status.phase', eq: 'Failed' },
 *   select: { name: 'metadata.name' },
 * });
 * const Failed = () => `${useSuspenseQuery(failed).total} failed`;
 * createElement(Suspense, { fallback: 'loading' }, createElement(Failed));
 * ```
 */
export function useSuspenseQuery<Row>(query: LiveQuery<Row> | WorkerQuery<Row>): ListResult<Row> {
  return useAnswer('useSuspenseQuery', query) as ListResult<Row>;
}

/** Like `useSuspenseList` of `rx-informer/react`, for a list that a worker answers, as {@link useSuspenseQuery} does. */
export const useSuspenseList: typeof UseSuspenseList = ((
  resource: Resource<KubernetesObject>,
  options?: object,
): ListResult<unknown> =>
  useAnswer('useSuspenseList', {
    ...options,
    from: resource,
  } as AskedQuery)) as typeof UseSuspenseList;
