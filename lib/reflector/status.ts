/** `ReflectorStatus`, the public view of the reflector's state, for example for a page that shows the connection. */
import type { HeldBack } from '../list-watch/buffering-proxy.ts';
import type { ApiError } from '../meta/api-error.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';
import type { EpochMs } from '../rx/epoch-ms.ts';
import type { ShardHolding } from './shards/shard-holding.ts';
import type { Blocked, ReflectorPhase, ReflectorState } from './state.ts';

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
  /** Whether a complete list was received and an answered watch delivers the changes without a delay. */
  readonly live: boolean;
  /**
   * In the phase `queued`, why the request waits, in words for a user: streams take turns because a browser has few
   * connections, or the tab is hidden.
   */
  readonly waitingFor?: string;
  /** When the phase began, in milliseconds. */
  readonly sinceMs: EpochMs;
  /** Since when the emitted state may be stale, in milliseconds; absent while an answered watch delivers changes. */
  readonly staleSinceMs?: EpochMs;
  /** Why the server refuses the requests; the reflector retries nevertheless. */
  readonly blocked?: Blocked;
  /** The last failure, until a request succeeds. */
  readonly error?: ApiError;
  /** When the next request is due, in milliseconds, if the last one failed. */
  readonly nextRetryAtMs?: EpochMs;
  /** The number of failures since the last healthy time. */
  readonly attempt: number;
  readonly reconnects: number;
  readonly relists: number;
  /** The number of objects received so far of the list in progress. */
  readonly loaded?: number;
  /** The number of objects of the list in progress that are still to be received, if the server says so. */
  readonly remaining?: number;
  readonly resourceVersion: ResourceVersion | '';
  /** Set while a proxy is known to hold events back. Deltas are then emitted up to 20 s late, so `live` is false. */
  readonly heldBack?: HeldBack;
  /** For a sharded informer: the shards that it holds, and who filters. */
  readonly shards?: ShardHolding;
}

/** Whether an answered watch is open. */
function isWatching({ phase, opened }: ReflectorState): boolean {
  return phase === 'watching' && opened;
}

function phaseOf(state: ReflectorState, heldBack?: HeldBack): ReflectorStatus['phase'] {
  if (state.queued) return 'queued';
  // A proxy that holds responses back delivers the response of a watch only at its end.
  const isExpected = heldBack === undefined || state.error !== undefined;
  const isAwaited = state.phase === 'watching' && !state.opened && isExpected;
  return isAwaited ? 'connecting' : state.phase;
}

/** Converts a state to the status. */
export function statusOf(state: ReflectorState, heldBack?: HeldBack): ReflectorStatus {
  const { staleSinceMs, blocked, error, nextRetryAtMs, loaded, remaining, waitingFor } = state;
  return {
    phase: phaseOf(state, heldBack),
    synced: state.synced,
    live: state.synced && isWatching(state) && staleSinceMs === undefined && heldBack === undefined,
    sinceMs: state.sinceMs,
    attempt: state.attempt,
    reconnects: state.reconnects,
    relists: state.relists,
    resourceVersion: state.resourceVersion,
    ...(state.queued && waitingFor !== undefined ? { waitingFor } : {}),
    ...(staleSinceMs === undefined ? {} : { staleSinceMs }),
    ...(blocked === undefined ? {} : { blocked }),
    ...(error === undefined ? {} : { error }),
    ...(nextRetryAtMs === undefined ? {} : { nextRetryAtMs }),
    ...(loaded === 0 ? {} : { loaded }),
    ...(remaining === undefined ? {} : { remaining }),
    ...(heldBack === undefined ? {} : { heldBack }),
  };
}

/**
 * Whether two states have the same status. The version is not compared, because it changes with every event, and
 * `synced` is not, because it changes only together with the phase.
 */
export function sameStatus(a: ReflectorState, b: ReflectorState): boolean {
  return (
    phaseOf(a) === phaseOf(b) &&
    (!a.queued || a.waitingFor === b.waitingFor) &&
    a.error === b.error &&
    a.blocked === b.blocked &&
    a.staleSinceMs === b.staleSinceMs &&
    a.nextRetryAtMs === b.nextRetryAtMs &&
    a.attempt === b.attempt &&
    a.reconnects === b.reconnects &&
    a.relists === b.relists &&
    a.loaded === b.loaded &&
    a.remaining === b.remaining
  );
}
