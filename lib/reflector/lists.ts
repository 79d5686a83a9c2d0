/** The deltas and the states that lists lead to: for their parts, and for their end. */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { isOlder } from '../meta/resource-version.ts';
import type { Delta, Replacing } from './delta.ts';
import { aborting } from './failures.ts';
import { relist, watch } from './requests.ts';
import type {
  Listing,
  Memory,
  Moment,
  Next,
  ReflectorEffect,
  ReflectorInput,
  Streaming,
  Watching,
} from './state.ts';

type Listed = Extract<ReflectorInput, { kind: 'listed' }>;

/** Emits the deltas, if there are any. */
export function emit(deltas: readonly Delta<KubernetesObject>[]): readonly ReflectorEffect[] {
  return deltas.length === 0 ? [] : [{ type: 'emit', deltas }];
}

/** Returns the memory after a request has succeeded: no error, and not blocked. */
export function healthy(memory: Memory, { nowMs }: Moment): Memory {
  return {
    ...memory,
    // Limited to now, because a time in the future, after the clock was set back, would delay the healthy state.
    healthySinceMs: Math.min(memory.healthySinceMs ?? nowMs, nowMs),
    error: undefined,
    blocked: undefined,
  };
}

/** Emits a part of a list in progress, if it is not empty. */
export function replacing(
  part: Omit<Replacing<KubernetesObject>, 'type'>,
  { config: { scope } }: Moment,
): readonly ReflectorEffect[] {
  const { objects, keys, removed, refused } = part;
  const isEmpty = objects.length === 0 && !removed?.length && !refused?.length;
  return emit(isEmpty ? [] : [{ type: 'replacing', scope, objects, keys, removed, refused }]);
}

/**
 * Whether equal versions of the stored objects and of the list mean equal content. After an older list they do not, even
 * if the server has passed the last version when the list is requested again.
 */
function trustsVersions(memory: Memory, listedVersion: string): boolean {
  const { refreshing, rereading, resourceVersion } = memory;
  return refreshing !== 'doubting' && !rereading && !isOlder(listedVersion, resourceVersion);
}

/**
 * Requests the list again, to be parsed completely, if stored objects were reused for a list whose versions turn out
 * not to be trusted; otherwise `undefined`.
 */
export function rereadIfDoubted(
  memory: Memory,
  isReused: boolean,
  resourceVersion: string,
  moment: Moment,
): Next | undefined {
  if (!isReused || memory.rereading || trustsVersions(memory, resourceVersion)) return undefined;
  return aborting(relist({ ...memory, rereading: true }, moment), moment);
}

/** Commits a complete list: the parts emitted so far and `items`. */
export function replaced(
  memory: Memory,
  { items: objects, refused, resourceVersion }: Omit<Listed, 'kind'>,
  moment: Moment,
): [Memory, readonly ReflectorEffect[]] {
  const { scope } = moment.config;
  const trustVersions = trustsVersions(memory, resourceVersion);
  const listed: Memory = {
    ...healthy(memory, moment),
    resourceVersion,
    synced: true,
    versionUnavailable: false,
    rereading: false,
    retriedNewest: false,
    refreshing: undefined,
    streamFailures: 0,
    refusesStreams: false,
    fruitless: 0,
    relists: memory.synced ? memory.relists + 1 : memory.relists,
    // The list shows the state at its beginning. The changes since then follow in the watch.
    staleSinceMs: memory.sinceMs,
    catchUpMs: 0,
  };
  const commit = emit([
    { type: 'replaced', scope, objects, refused, resourceVersion, trustVersions },
  ]);
  const isRefreshed = memory.refreshing !== undefined;
  return [listed, isRefreshed ? [...commit, { type: 'refreshed', error: undefined }] : commit];
}

/** The list in pages is complete. Its objects are in its parts. */
export function listed(state: Listing, input: Listed, moment: Moment): Next {
  const { memory, reused } = state;
  const { resourceVersion, versionUnavailable, paginated } = memory;
  const again = rereadIfDoubted(memory, reused, input.resourceVersion, moment);
  if (again !== undefined) return again;
  const isFirst = resourceVersion === '' && !versionUnavailable;
  const [next, commit] = replaced(memory, input, moment);
  const fromEtcd = paginated || (isFirst && 'paginated' in input && input.paginated);
  const [watching, effects] = watch({ ...next, paginated: fromEtcd }, moment);
  const found: readonly ReflectorEffect[] = memory.refusesStreams
    ? [{ type: 'remember-no-watch-list' }]
    : [];
  return [watching, [...commit, ...found, ...effects]];
}

/** A streaming LIST goes on as the watch, without a second request. */
export function continued(
  { requestedMs, timeoutMs }: Streaming,
  memory: Memory,
  adopting: boolean,
): Watching {
  return {
    phase: 'watching',
    ...{ memory, requestedMs, timeoutMs, adopting },
    queued: undefined,
    opened: true,
    renewal: undefined,
    repeats: undefined,
    tickMs: 0,
    delivered: true,
    quiet: 0,
  };
}

/** Commits the complete collection that a poll read. A poll does not count as a relist, because no watch failed. */
export function relisted(state: Streaming | Watching, input: Listed, moment: Moment): Next {
  const { relists } = state.memory;
  const [listed, commit] = replaced(state.memory, input, moment);
  const memory = { ...listed, relists, staleSinceMs: undefined };
  if (state.phase === 'streaming') return [continued(state, memory, false), commit];
  return [{ ...state, memory, tickMs: 0 }, commit];
}
