/** What lists bring: their parts, the commit at their end, and a state that says that all is well. */
import type { Refused } from '../decode/watch-event.ts';
import { isOlder } from '../meta/resource-version.ts';
import type { Step } from '../rx/machine.ts';
import type { Delta } from './delta.ts';
import { scoped } from './failures.ts';
import type {
  Moment,
  ReflectorConfig,
  ReflectorEffect,
  ReflectorInput,
  ReflectorState,
} from './state.ts';

type Relisted<T> = Extract<ReflectorInput<T>, { type: 'relisted' }>;

/** Says what was learned, if anything. */
export function emit<T>(deltas: readonly Delta<T>[]): ReflectorEffect<T>[] {
  return deltas.length === 0 ? [] : [{ type: 'emit', deltas }];
}

/** What a request that works says of the state. */
export function healthy(state: ReflectorState, moment: Moment): ReflectorState {
  const { nowMs } = moment;
  return {
    ...state,
    queued: false,
    opened: true,
    // Not after now: a clock that was set back would make it wait until it is there again.
    healthySinceMs: Math.min(state.healthySinceMs ?? nowMs, nowMs),
    error: undefined,
    blocked: undefined,
  };
}

/** The list is whole. */
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
    trustVersions:
      state.refreshing !== 'doubting' && !isOlder(resourceVersion, state.resourceVersion),
    ...(rejected.length === 0 ? {} : { rejected }),
  };
  const next: ReflectorState = {
    ...state,
    resourceVersion,
    synced: true,
    versionUnavailable: false,
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

/** More of a list under way, if there is more. */
export function replacing<T>(
  objects: readonly T[],
  removed: readonly string[],
  rejected: readonly Refused[],
  config: ReflectorConfig,
): Delta<T>[] {
  if (objects.length === 0 && removed.length === 0 && rejected.length === 0) return [];
  return [
    {
      type: 'replacing',
      ...scoped(config),
      objects,
      ...(removed.length === 0 ? {} : { removed }),
      ...(rejected.length === 0 ? {} : { rejected }),
    },
  ];
}

/** The whole collection from a watch: what a poll brings is no failure of it, so it counts as no relist. */
export const relisted = <T>(
  state: ReflectorState,
  { items, rejected = [], resourceVersion }: Relisted<T>,
  moment: Moment,
  config: ReflectorConfig,
): Step<ReflectorState, ReflectorEffect<T>> => {
  const [whole, commit] = replaced<T>(state, resourceVersion, items, rejected, config);
  const { nowMs } = moment;
  const sinceMs = state.phase === 'watching' ? state.sinceMs : nowMs;
  const { relists } = state;
  return [{ ...healthy(whole, moment), phase: 'watching', sinceMs, relists }, commit];
};
