/** The reflector's state in the words of a page. */

import type { HeldBack } from '../list-watch/buffering-proxy.ts';
import type { ApiError } from '../meta/api-error.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';
import type { EpochMs } from '../rx/epoch-ms.ts';
import type { Blocked, ReflectorPhase, ReflectorState } from './state.ts';

/** What a reflector is doing. Times are of the scheduler's clock, in milliseconds. */
export interface ReflectorStatus {
  /**
   * `queued`: the request was not sent yet; it waits for the rate limiter, for credentials or for a connection.
   * `connecting`: a watch was requested and is not answered yet.
   */
  readonly phase: ReflectorPhase | 'queued' | 'connecting';
  /** A whole list has come. */
  readonly synced: boolean;
  /** A whole list has come, and an answered watch brings what changes: what was emitted follows the server. */
  readonly live: boolean;
  /** When the phase began. */
  readonly sinceMs: EpochMs;
  /** Since when what was emitted may be behind the server; absent while an answered watch follows it. */
  readonly staleSinceMs?: EpochMs;
  /** Why the server refuses what is asked for; it is tried again all the same. */
  readonly blocked?: Blocked;
  /** The last failure, until a request succeeds. */
  readonly error?: ApiError;
  /** When the next request is due, if the last one failed. */
  readonly nextRetryAtMs?: EpochMs;
  /** Failures in a row since the last healthy time. */
  readonly attempt: number;
  readonly reconnects: number;
  readonly relists: number;
  /** Objects of the list under way that have come so far. */
  readonly loaded?: number;
  /** Objects of the list under way still to come, where the server says. */
  readonly remaining?: number;
  readonly resourceVersion: ResourceVersion | '';
  /** While a proxy is known to hold events back: what is emitted comes late, up to 20 s, so `live` is false. */
  readonly heldBack?: HeldBack;
}

/** Whether a watch that was answered is open. */
function isWatching({ phase, opened }: ReflectorState): boolean {
  return phase === 'watching' && opened;
}

function phaseOf(state: ReflectorState, heldBack?: HeldBack): ReflectorStatus['phase'] {
  if (state.queued) return 'queued';
  // Behind a proxy that holds back, the answer is not expected before the end of the watch.
  const isExpected = heldBack === undefined || state.error !== undefined;
  const isAwaited = state.phase === 'watching' && !state.opened && isExpected;
  return isAwaited ? 'connecting' : state.phase;
}

/** The status that a state amounts to. */
export function statusOf(state: ReflectorState, heldBack?: HeldBack): ReflectorStatus {
  const { staleSinceMs, blocked, error, nextRetryAtMs, loaded, remaining } = state;
  return {
    phase: phaseOf(state, heldBack),
    synced: state.synced,
    live: state.synced && isWatching(state) && staleSinceMs === undefined && heldBack === undefined,
    sinceMs: state.sinceMs,
    attempt: state.attempt,
    reconnects: state.reconnects,
    relists: state.relists,
    resourceVersion: state.resourceVersion,
    ...(staleSinceMs === undefined ? {} : { staleSinceMs }),
    ...(blocked === undefined ? {} : { blocked }),
    ...(error === undefined ? {} : { error }),
    ...(nextRetryAtMs === undefined ? {} : { nextRetryAtMs }),
    ...(loaded === 0 ? {} : { loaded }),
    ...(remaining === undefined ? {} : { remaining }),
    ...(heldBack === undefined ? {} : { heldBack }),
  };
}

/** Whether nothing happened that a reader of the status would want to know: a moving version is no news. */
export function sameStatus(a: ReflectorState, b: ReflectorState): boolean {
  return (
    phaseOf(a) === phaseOf(b) &&
    a.synced === b.synced &&
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
