/**
 * Make before break: the reflector requests the next watch while the current one still delivers events, so that no
 * event waits for a server that answers slowly. For a moment both watches deliver the same events. Each is checked by
 * its own order of versions.
 */
import type { WatchEvent } from '../decode/watch-event.ts';
import { type KubernetesObject, versionOf } from '../meta/kubernetes-object.ts';
import { compareResourceVersion, isOlder, isResourceVersion } from '../meta/resource-version.ts';
import type { Step } from '../rx/machine.ts';
import { waitFor } from './failures.ts';
import { healthy } from './lists.ts';
import { refreshNow } from './refresh.ts';
import { retryAfterLeftMs, watchRequest } from './requests.ts';
import type {
  Moment,
  ReflectorConfig,
  ReflectorEffect,
  ReflectorInput,
  ReflectorState,
  Repeats,
} from './state.ts';

type Next<T> = Step<ReflectorState, ReflectorEffect<T>>;

/**
 * How long the response to the next watch may take, in milliseconds. A server's cache that starts again needs more than
 * a minute.
 */
export const HEAD_LIMIT_MS = 90_000;
/** How long before the end of a watch the next one is requested, in milliseconds. */
const LEAD_MS = 95_000;

function isLive({ phase, opened }: ReflectorState): boolean {
  return phase === 'watching' && opened;
}

/** The time until the next watch is due. It is limited, so that a clock that was set back does not delay the watch. */
function dueMs({ requestedMs, timeoutMs }: ReflectorState, { nowMs }: Moment): number {
  const afterMs = timeoutMs - Math.min(LEAD_MS, timeoutMs / 2);
  return Math.min(Math.max(0, requestedMs + afterMs - nowMs), afterMs);
}

/** Runs after each step. Schedules the next watch if a watch was answered, and drops it if that watch has ended. */
export function scheduleRenewal<T>(
  before: ReflectorState,
  [state, effects]: Next<T>,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  if (!isLive(state)) {
    if (state.renewal === undefined) return [state, effects];
    const ended = { ...state, renewal: undefined };
    return [ended, [{ type: 'drop-renewal' }, ...effects]];
  }
  const isNew = state.renewal === undefined || !isLive(before);
  if (!isNew || !config.renewsEarly) return [state, effects];
  const due = { ...state, renewal: 'due' as const };
  return [due, [...effects, { type: 'renew-after', delayMs: dueMs(state, moment) }]];
}

/** Requests the next watch, or the list of a refresh that waited for a Retry-After. */
export function renew<T>(
  state: ReflectorState,
  _input: unknown,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const { resourceVersion, adopting } = state;
  if (state.renewal !== 'due') return [state, []];
  // The refresh has waited for the server's Retry-After, so the clock is not checked again.
  if (state.refreshing !== undefined) return refreshNow(state, moment, config);
  // Without comparable versions, repeated events could not be recognized.
  if (!config.mayOverlap() || !adopting || !isResourceVersion(resourceVersion)) {
    return [{ ...state, renewal: 'given-up' }, []];
  }
  const effect = watchRequest(resourceVersion, moment, config);
  const timeoutMs = effect.timeoutSeconds * 1000;
  const renewal = { resourceVersion, requestedMs: moment.nowMs, timeoutMs };
  return [{ ...state, renewal }, [{ ...effect, type: 'renew' }]];
}

/** Replaces the current watch with the next one, which may not be answered (`opened`) yet. */
function takeOver<T>(state: ReflectorState, opened: boolean): Next<T> {
  const { renewal, resourceVersion: until } = state;
  if (typeof renewal !== 'object') return [state, []];
  const { resourceVersion, requestedMs, timeoutMs } = renewal;
  const repeats = resourceVersion === until ? undefined : { resourceVersion, until };
  return [
    { ...state, opened, requestedMs, timeoutMs, repeats, renewal: undefined },
    [{ type: 'take-over' }],
  ];
}

/** The next watch was answered. */
export function renewed<T>(state: ReflectorState, _input: unknown, moment: Moment): Next<T> {
  if (typeof state.renewal !== 'object') return [state, []];
  return takeOver(healthy(state, moment), true);
}

/** The next watch failed. The current one still delivers the events; a Retry-After is kept until its end. */
export function renewalFailed<T>(
  state: ReflectorState,
  { error }: Extract<ReflectorInput<T>, { type: 'renewal-failed' }>,
  { nowMs }: Moment,
): Next<T> {
  const { retryAfterMs } = error;
  if (typeof state.renewal !== 'object') return [state, []];
  const retryAfter =
    retryAfterMs === undefined ? state.retryAfter : { sinceMs: nowMs, forMs: retryAfterMs };
  return [{ ...state, renewal: 'given-up', retryAfter }, []];
}

/**
 * The step after a watch has ended normally, if the next watch was requested already or must wait for a Retry-After;
 * otherwise `undefined`.
 */
export function endedEarly<T>(state: ReflectorState, moment: Moment): Next<T> | undefined {
  const { nowMs } = moment;
  if (typeof state.renewal === 'object') {
    const { staleSinceMs = nowMs } = state;
    return takeOver({ ...state, staleSinceMs }, false);
  }
  const delayMs = retryAfterLeftMs(state, moment);
  if (delayMs === 0) return undefined;
  return waitFor(state, { delayMs, attempt: state.attempt, resume: 'watch' }, moment);
}

function versionOfEvent<T>(event: WatchEvent<T>): string {
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
      return versionOf(event.object as KubernetesObject);
    case 'REJECTED':
      return event.refused.resourceVersion;
    case 'DELETED':
    case 'BOOKMARK':
      return event.resourceVersion;
    default:
      return '';
  }
}

/** Removes the events from a batch that the watch before it has delivered already. */
export function withoutRepeats<T>(
  events: readonly WatchEvent<T>[],
  repeats: Repeats,
): {
  readonly events: readonly WatchEvent<T>[];
  readonly repeats: Repeats | undefined;
  readonly wentBack: boolean;
} {
  let { resourceVersion } = repeats;
  const { until } = repeats;
  for (const [at, event] of events.entries()) {
    const received = versionOfEvent(event);
    const order = compareResourceVersion(received, until);
    if (order === undefined || order > 0) {
      // An ERROR ends the batch, but does not show that the repeated events are complete.
      const isPast = event.type !== 'ERROR';
      const left = isPast ? undefined : { resourceVersion, until };
      return { events: events.slice(at), repeats: left, wentBack: false };
    }
    if (isOlder(received, resourceVersion)) {
      if (event.type !== 'DELETED') return { events: [], repeats: undefined, wentBack: true };
    } else resourceVersion = received;
  }
  const left = resourceVersion === until ? undefined : { resourceVersion, until };
  return { events: [], repeats: left, wentBack: false };
}
