/** The status of all that the hooks of a provider read, merged. */
import { mergeStatus } from '../informer/status/merge-status.ts';
import type { InformerStatus } from '../informer/status/status.ts';
import { shallowEqual } from '../query/operators/shallow-equal.ts';
import type { Provided } from './provided.ts';
import { blockingError, NO_RESULT, type StatusResult } from './row-result.ts';
import type { StatusSource } from './status-source.ts';

/** The former value if the new one is equal to it; otherwise the new one, frozen. */
function kept<V extends object>(former: V, now: V): V {
  return shallowEqual(former, now) ? former : Object.freeze(now);
}

/** Returns the former result if nothing of it has changed, so that a change of rows renders nothing. */
function merged({ used }: Provided, former: StatusResult): StatusResult {
  const read = [...new Map(used)].map(([source, name]) => [name(), source.getSnapshot()] as const);
  if (read.length === 0) return NO_RESULT;
  const results = read.map(([, result]) => result);
  // Once for all that read the same informers.
  const statuses = [...new Map(read).values()].map(({ status }) => status as InformerStatus);
  const known = statuses.filter(({ phase }) => phase !== undefined && phase !== 'idle');
  const all = results.flatMap(({ status }) => status.refusedRows);
  const refusedRows = kept(former.status.refusedRows, all);
  const status = kept(former.status, { ...(known.length > 0 && mergeStatus(known)), refusedRows });
  const synced = results.every((result) => result.synced);
  const error =
    results.find((result) => result.error !== undefined)?.error ?? blockingError(status);
  return kept(former, { synced, status, error });
}

/** The merged status of a provider, as a part of it. */
export function mergedStatusOf(provided: Provided): StatusSource {
  let status: StatusResult = NO_RESULT;
  let isOutdated = true;
  provided.subscribe(() => {
    isOutdated = true;
  });
  const getSnapshot = () => {
    if (isOutdated) status = merged(provided, status);
    isOutdated = false;
    return status;
  };
  return { subscribe: provided.subscribe, getSnapshot };
}
