/** The hooks that ask a worker. They have the types of the hooks that ask informers. */
import { useMemo } from 'react';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { Resource } from '../../meta/resource.ts';
import type { LiveQuery } from '../../query/live-query/live-query.ts';
import type { WorkerQuery } from '../../worker/carried-query.ts';
import { editInWorker } from '../../worker/page/edit-in-worker.ts';
import { type EditResult, useEditsOf } from '../edit/use-edit.ts';
import type { ListResult, StatusResult } from '../row-result.ts';
import { SKIPPED } from '../row-source.ts';
import { statusOfRows } from '../status-source.ts';
import type { useList as UseList } from '../use-list.ts';
import {
  type ObjectRef,
  objectOf,
  objectQuery,
  type useObject as UseObject,
} from '../use-object.ts';
import { useRows } from '../use-rows.ts';
import { useSource } from '../use-status.ts';
import { type AskedQuery, useWorkerState } from './worker-provider.ts';

function useAsked(hook: string, query: AskedQuery | undefined): ListResult<unknown> {
  const state = useWorkerState(hook);
  return useRows(query === undefined ? undefined : state.asked(hook, query));
}

/**
 * Like `useQuery` of `rx-informer/react`, for a query that a worker answers: one without functions, or one of the worker
 * (`workerQuery` of `rx-informer/worker`). Without `select` it needs a `limit` of at most 200. Throws an `Error` without a
 * {@link WorkerProvider}, and a `TypeError` if the query cannot be sent to a worker. What the worker finds wrong with it
 * is `status.error`.
 *
 * @example
 * ```ts no-run
 * import { liveQuery } from 'rx-informer';
 * import { useQuery } from 'rx-informer/react/worker';
 * import { pods } from 'rx-informer/resources';
 *
 * const failed = liveQuery({
 *   from: pods,
 *   where: { path: 'status.phase', eq: 'Failed' },
 *   select: { name: 'metadata.name' },
 * });
 * const Failed = () => `${useQuery(failed).total} failed`;
 * Failed();
 * ```
 */
export function useQuery<Row>(
  query: LiveQuery<Row> | WorkerQuery<Row> | undefined,
): ListResult<Row> {
  return useAsked('useQuery', query) as ListResult<Row>;
}

/** Like `useList` of `rx-informer/react`, for a list that a worker answers, as {@link useQuery} does. */
export const useList: typeof UseList = ((
  resource: Resource<KubernetesObject> | undefined,
  options?: object,
): ListResult<unknown> => {
  const query = resource === undefined ? undefined : ({ ...options, from: resource } as AskedQuery);
  return useAsked('useList', query);
}) as typeof UseList;

/** Like `useObject` of `rx-informer/react`, for an object that a worker reads. */
export const useObject: typeof UseObject = ((
  resource: Resource<KubernetesObject> | undefined,
  ref: ObjectRef | undefined,
) => {
  const query =
    resource === undefined || ref === undefined
      ? undefined
      : ({ ...objectQuery(resource, ref), limit: 1 } as AskedQuery);
  const result = useAsked('useObject', query);
  return useMemo(() => objectOf(result), [result]);
}) as typeof UseObject;

/** Like `useQueryStatus` of `rx-informer/react`, for a query that a worker answers. */
export function useQueryStatus(query: AskedQuery | undefined): StatusResult {
  const state = useWorkerState('useQueryStatus');
  const { identity, source } = query === undefined ? NOTHING : state.asked('useQueryStatus', query);
  return useSource(state, identity[3], () => statusOfRows(source()));
}

const NOTHING = { identity: [] as readonly unknown[], source: () => SKIPPED };

/**
 * Like `useEdit` of `rx-informer/react`. The recipe runs in the page, on the complete object as the server has it; the
 * draft is shown in all tabs. The waits before further attempts are those of the worker, whatever `backoff` is.
 */
export function useEdit<T extends KubernetesObject>(resource: Resource<T>): EditResult<T> {
  const state = useWorkerState('useEdit');
  // The clock, the chance and the waits of the worker are its own, and functions cannot be sent.
  return useEditsOf<T>(
    state,
    resource,
    (target, recipe, { scheduler, random, backoff, ...options }) =>
      editInWorker(state.cluster, resource, target, recipe, options),
  );
}
