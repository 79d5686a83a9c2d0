/**
 * Make before break: the reflector requests the next watch while the current one still delivers events, so that no
 * event waits for a server that answers slowly. For a moment both watches deliver the same events. Each is checked by
 * its own order of versions.
 */
import { isResourceVersion } from '../meta/resource-version.ts';
import { wait } from './failures.ts';
import { healthy } from './lists.ts';
import { refreshNow } from './refresh.ts';
import { retryAfterLeftMs, watchRequest } from './requests.ts';
import {
  isLive,
  type Memory,
  type Moment,
  type Next,
  type ReflectorInput,
  type ReflectorState,
  remember,
  type Watching,
} from './state.ts';

/**
 * How long the response to the next watch may take, in milliseconds. A server's cache that starts again needs more than
 * a minute.
 */
export const HEAD_LIMIT_MS = 90_000;
/** How long before the end of a watch the next one is requested, in milliseconds. */
const LEAD_MS = 95_000;

/** The time until the next watch is due. It is limited, so that a clock that was set back does not delay the watch. */
function dueMs({ requestedMs, timeoutMs }: Watching, { nowMs }: Moment): number {
  const afterMs = timeoutMs - Math.min(LEAD_MS, timeoutMs / 2);
  return Math.min(Math.max(0, requestedMs + afterMs - nowMs), afterMs);
}

/** Runs after each step. Schedules the next watch if a watch was answered, and drops it if that watch has ended. */
export function scheduleRenewal(before: ReflectorState, step: Next, moment: Moment): Next {
  const [state, effects] = step;
  if (isLive(state)) {
    if (state.renewal !== undefined || !moment.config.renewsEarly) return step;
    const delayMs = dueMs(state, moment);
    return [{ ...state, renewal: 'due' }, [...effects, { type: 'renew-after', delayMs }]];
  }
  const isDropped =
    before.phase === 'watching' && before.renewal !== undefined && effects[0]?.type !== 'take-over';
  return isDropped ? [state, [{ type: 'drop-renewal' }, ...effects]] : step;
}

/** Requests the next watch, or the list of a refresh that waited for a Retry-After. */
export function renew(state: Watching, _input: unknown, moment: Moment): Next {
  const { resourceVersion, refreshing } = state.memory;
  if (state.renewal !== 'due') return [state, []];
  // The refresh has waited for the server's Retry-After, so the clock is not checked again.
  if (refreshing !== undefined) return refreshNow(state, moment);
  // Without comparable versions, repeated events could not be recognized.
  if (!moment.config.mayOverlap() || !state.adopting || !isResourceVersion(resourceVersion)) {
    return [{ ...state, renewal: 'given-up' }, []];
  }
  const effect = watchRequest(resourceVersion, moment);
  const timeoutMs = effect.timeoutSeconds * 1000;
  const renewal = { resourceVersion, requestedMs: moment.nowMs, timeoutMs };
  return [{ ...state, renewal }, [{ ...effect, type: 'renew' }]];
}

/** Replaces the current watch with the next one, which may not be answered (`opened`) yet. */
function takeOver(state: Watching, memory: Memory, opened: boolean): Next | undefined {
  const { renewal } = state;
  if (typeof renewal !== 'object') return undefined;
  const { resourceVersion, requestedMs, timeoutMs } = renewal;
  const until = memory.resourceVersion;
  const repeats = resourceVersion === until ? undefined : { resourceVersion, until };
  return [
    { ...state, memory, opened, requestedMs, timeoutMs, repeats, renewal: undefined },
    [{ type: 'take-over' }],
  ];
}

/** The next watch was answered. */
export function renewed(state: Watching, _input: unknown, moment: Moment): Next {
  return takeOver(state, healthy(state.memory, moment), true) ?? [state, []];
}

/** The next watch failed. The current one still delivers the events; a Retry-After is kept until its end. */
export function renewalFailed(
  state: Watching,
  { error: { retryAfterMs } }: Extract<ReflectorInput, { kind: 'renewal-failed' }>,
  { nowMs }: Moment,
): Next {
  if (typeof state.renewal !== 'object') return [state, []];
  const failed = { ...state, renewal: 'given-up' } as const;
  if (retryAfterMs === undefined) return [failed, []];
  return [remember(failed, { retryAfter: { sinceMs: nowMs, forMs: retryAfterMs } }), []];
}

/**
 * The step after a watch has ended normally, if the next watch was requested already or must wait for a Retry-After;
 * otherwise `undefined`.
 */
export function endedEarly(state: Watching, memory: Memory, moment: Moment): Next | undefined {
  const taken = takeOver(state, memory, false);
  if (taken !== undefined) return taken;
  const leftMs = retryAfterLeftMs(memory, moment);
  return leftMs === 0 ? undefined : wait(memory, 'watch', leftMs, moment);
}
