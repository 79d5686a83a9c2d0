/** The deltas and the states that lists lead to: for their parts, and for their end. */
import type { Refused } from '../decode/watch-event.ts';
import { isOlder } from '../meta/resource-version.ts';
import type { Step } from '../rx/machine.ts';
import type { Delta } from './delta.ts';
import { aborting, scoped } from './failures.ts';
import { relist } from './requests.ts';
import type {
  Moment,
  ReflectorConfig,
  ReflectorEffect,
  ReflectorInput,
  ReflectorState,
} from './state.ts';

type Relisted<T> = Extract<ReflectorInput<T>, { type: 'relisted' }>;

/** Emits the deltas, if there are any. */
export function emit<T>(deltas: readonly Delta<T>[]): ReflectorEffect<T>[] {
  return deltas.length === 0 ? [] : [{ type: 'emit', deltas }];
}

/** The state after a request has succeeded: without an error and not blocked. */
export function healthy(state: ReflectorState, moment: Moment): ReflectorState {
  const { nowMs } = moment;
  return {
    ...state,
    queued: false,
    opened: true,
    // Limited to now, because a time in the future, after the clock was set back, would delay the healthy state.
    healthySinceMs: Math.min(state.healthySinceMs ?? nowMs, nowMs),
    error: undefined,
    blocked: undefined,
  };
}

/**
 * Whether equal versions of the stored objects and of the list mean equal content. After an older list they do not, even
 * if the server has passed the last version when the list is requested again.
 */
function trustsVersions(state: ReflectorState, resourceVersion: string): boolean {
  const { refreshing, rereading, resourceVersion: seen } = state;
  return refreshing !== 'doubting' && !rereading && !isOlder(resourceVersion, seen);
}

/**
 * Whether stored objects were reused for a list that turns out to be one whose versions are not trusted. Then the list
 * must be requested again and parsed completely.
 */
export function mustReread(state: ReflectorState, resourceVersion: string): boolean {
  return state.reused && !state.rereading && !trustsVersions(state, resourceVersion);
}

/** Requests the list again. It is parsed completely this time. */
export function reread<T>(
  state: ReflectorState,
  moment: Moment,
  config: ReflectorConfig,
): Step<ReflectorState, ReflectorEffect<T>> {
  return aborting(relist<T>({ ...state, rereading: true }, moment, config), config);
}

/** Commits a complete list: the parts emitted so far and `objects`. */
export function replaced<T>(
  state: ReflectorState,
  resourceVersion: string,
  objects: readonly T[],
  rejected: readonly Refused[],
  config: ReflectorConfig,
): [ReflectorState, ReflectorEffect<T>[]] {
  const delta: Delta<T> = {
    type: 'replaced',
    ...scoped(config),
    objects,
    resourceVersion,
    trustVersions: trustsVersions(state, resourceVersion),
    ...(rejected.length === 0 ? {} : { rejected }),
  };
  const next: ReflectorState = {
    ...state,
    resourceVersion,
    synced: true,
    versionUnavailable: false,
    reused: false,
    rereading: false,
    retriedNewest: false,
    refreshing: undefined,
    streamFailures: 0,
    fruitless: 0,
    relists: state.synced ? state.relists + 1 : state.relists,
    staleSinceMs: undefined,
    loaded: 0,
    remaining: undefined,
  };
  const refreshed: ReflectorEffect<T>[] =
    state.refreshing === undefined ? [] : [{ type: 'refreshed' }];
  return [next, [{ type: 'emit', deltas: [delta] }, ...refreshed]];
}

/** The delta for a part of a list in progress; no delta if the part is empty. */
export function replacing<T>(
  objects: readonly T[],
  removed: readonly string[],
  rejected: readonly Refused[],
  config: ReflectorConfig,
  keys?: readonly string[],
): Delta<T>[] {
  if (objects.length === 0 && removed.length === 0 && rejected.length === 0) return [];
  return [
    {
      type: 'replacing',
      ...scoped(config),
      objects,
      ...(keys === undefined ? {} : { keys }),
      ...(removed.length === 0 ? {} : { removed }),
      ...(rejected.length === 0 ? {} : { rejected }),
    },
  ];
}

/** Commits the complete collection that a poll read. A poll does not count as a relist, because no watch failed. */
export const relisted = <T>(
  state: ReflectorState,
  { items, rejected = [], resourceVersion }: Relisted<T>,
  moment: Moment,
  config: ReflectorConfig,
): Step<ReflectorState, ReflectorEffect<T>> => {
  const [listed, commit] = replaced<T>(state, resourceVersion, items, rejected, config);
  const { nowMs } = moment;
  const sinceMs = state.phase === 'watching' ? state.sinceMs : nowMs;
  const { relists } = state;
  return [{ ...healthy(listed, moment), phase: 'watching', sinceMs, relists }, commit];
};
