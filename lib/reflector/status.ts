/** `ReflectorStatus`, the public view of the reflector's state, for example for a page that shows the connection. */
import type { ApiError } from '../meta/api-error.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';
import type { ShardRange } from '../meta/shard-ranges/ranges.ts';
import type { EpochMs } from '../rx/timing.ts';
import type { HeldBack } from '../transport/guards/buffering-proxy.ts';
import { type Blocked, isLive, type ReflectorPhase, type ReflectorState } from './state.ts';

/** The shards of an informer. */
export interface ShardHolding {
  /** The ranges whose objects are in the store, or whose first list is in progress. */
  readonly holds: readonly ShardRange[];
  /** The ranges that are owned and are being listed, because they have just arrived. */
  readonly arriving: readonly ShardRange[];
  /** Whether the server sends only the objects of these shards; absent while that is not known. */
  readonly serverFilters?: boolean;
  /** Who filters, in words for a user. */
  readonly message: string;
}

/** The status of a reflector. Times are times of the scheduler's clock, in milliseconds. */
export interface ReflectorStatus {
  /**
   * `queued`: the request is not sent yet; it waits for the rate limiter, for credentials or for a connection, or in a
   * hidden tab. `waitingFor` may say which.
   * `connecting`: a watch was requested and is not answered yet.
   */
  readonly phase: ReflectorPhase | 'queued' | 'connecting';
  /** Whether a complete list was received. */
  readonly synced: boolean;
  /**
   * Whether a complete list was received and an answered watch delivers the changes without a delay. After an outage
   * or a slow list, that is so when the changes made meanwhile have arrived.
   */
  readonly live: boolean;
  /**
   * In the phase `queued`, why the request waits, in words for a user: streams take turns because a browser has few
   * connections, or the tab is hidden.
   */
  readonly waitingFor?: string | undefined;
  /** When the phase began, in milliseconds. */
  readonly sinceMs: EpochMs;
  /**
   * Since when the emitted state may be stale, in milliseconds; absent while an answered
   * watch that has caught up delivers the changes.
   */
  readonly staleSinceMs?: EpochMs | undefined;
  /**
   * With the option `persist`: whether the objects come from a store on disk and are not confirmed by the server yet. Then
   * `staleSinceMs` is the time at which they were last known to be right.
   */
  readonly stale?: true | undefined;
  /** Why the server refuses the requests; the reflector retries nevertheless. */
  readonly blocked?: Blocked | undefined;
  /** The last failure, until a request succeeds. */
  readonly error?: ApiError | undefined;
  /** When the next request is due, in milliseconds, if the last one failed. */
  readonly nextRetryAtMs?: EpochMs | undefined;
  /** The number of failures since the last healthy time. */
  readonly attempt: number;
  readonly reconnects: number;
  readonly relists: number;
  /** The number of objects received so far of the list in progress. */
  readonly loaded?: number | undefined;
  /** The number of objects of the list in progress that are still to be received, if the server says so. */
  readonly remaining?: number | undefined;
  readonly resourceVersion: ResourceVersion | '';
  /** Set while a proxy is known to hold events back. Deltas are then emitted up to 20 s late, so `live` is false. */
  readonly heldBack?: HeldBack | undefined;
  /** For a sharded informer: the shards that it holds, and who filters. */
  readonly shards?: ShardHolding | undefined;
}

/** The fields of the phases that have a request. */
const NO_REQUEST = { queued: undefined, loaded: 0, remaining: undefined, nextRetryAtMs: undefined };

function phaseOf(state: ReflectorState, heldBack: HeldBack | undefined): ReflectorStatus['phase'] {
  // A proxy that holds responses back delivers the response of a watch only at its end.
  const isExpected = heldBack === undefined || state.memory.error !== undefined;
  const isAwaited = state.phase === 'watching' && !state.opened && isExpected;
  return isAwaited ? 'connecting' : state.phase;
}

/** Converts a state to its status. Absent fields are `undefined`. */
export function statusOf(state: ReflectorState, heldBack: HeldBack | undefined): ReflectorStatus {
  const { sinceMs, synced, attempt, reconnects, relists, resourceVersion } = state.memory;
  const { staleSinceMs, error, blocked } = state.memory;
  const { queued, loaded, remaining, nextRetryAtMs } = { ...NO_REQUEST, ...state };
  return {
    phase: queued === undefined ? phaseOf(state, heldBack) : 'queued',
    live: synced && isLive(state) && staleSinceMs === undefined && heldBack === undefined,
    waitingFor: queued?.reason,
    ...{ sinceMs, synced, attempt, reconnects, relists, resourceVersion },
    ...{ staleSinceMs, error, blocked, remaining, nextRetryAtMs, heldBack },
    loaded: loaded || undefined,
  };
}

/** Whether two statuses differ at most in their version, which changes with every event. */
export function sameStatus(a: ReflectorStatus, b: ReflectorStatus): boolean {
  const names = Object.keys(a) as (keyof ReflectorStatus)[];
  return names.every((name) => name === 'resourceVersion' || a[name] === b[name]);
}
