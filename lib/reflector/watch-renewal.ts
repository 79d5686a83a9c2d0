/**
 * Make before break: the next watch is asked for while the one before still brings events, so that nothing waits for a
 * server that takes its time to answer. For a moment both bring the same; each is judged by its own order of versions.
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

/** So long may the answer to the next watch take: a server's cache that begins anew needs over a minute. */
export const HEAD_LIMIT_MS = 90_000;
/** So long before its end is a watch followed by the next. */
const LEAD_MS = 95_000;

function isLive({ phase, opened }: ReflectorState): boolean {
  return phase === 'watching' && opened;
}

/** When the next watch is due; what it was waits no longer than the life of a watch, whatever the clock says. */
function dueMs({ requestedMs, timeoutMs }: ReflectorState, { nowMs }: Moment): number {
  const afterMs = timeoutMs - Math.min(LEAD_MS, timeoutMs / 2);
  return Math.min(Math.max(0, requestedMs + afterMs - nowMs), afterMs);
}

/** After each step: a watch that was answered is to be followed by the next, and one that is over is not. */
export function scheduleRenewal<T>(
  before: ReflectorState,
  [state, effects]: Next<T>,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  if (!isLive(state)) {
    if (state.renewal === undefined) return [state, effects];
    const over = { ...state, renewal: undefined };
    return [over, [{ type: 'drop-renewal' }, ...effects]];
  }
  const isNew = state.renewal === undefined || !isLive(before);
  if (!isNew || !config.renewsEarly) return [state, effects];
  const due = { ...state, renewal: 'due' as const };
  return [due, [...effects, { type: 'renew-after', delayMs: dueMs(state, moment) }]];
}

/** Asks for the next watch. */
export function renew<T>(
  state: ReflectorState,
  _input: unknown,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const { resourceVersion, adopting } = state;
  if (state.renewal !== 'due') return [state, []];
  // It has waited for the server's Retry-After, whatever the clock says.
  if (state.refreshing !== undefined) return refreshNow(state, moment, config);
  // Without an order of versions nobody could tell what comes twice.
  if (!config.mayOverlap() || !adopting || !isResourceVersion(resourceVersion)) {
    return [{ ...state, renewal: 'given-up' }, []];
  }
  const effect = watchRequest(resourceVersion, moment, config);
  const timeoutMs = effect.timeoutSeconds * 1000;
  const renewal = { resourceVersion, requestedMs: moment.nowMs, timeoutMs };
  return [{ ...state, renewal }, [{ ...effect, type: 'renew' }]];
}

/** The next watch takes the place of the one before; `answered` or not. */
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

/** The next watch came to nothing. The one that lasts tells what matters; a Retry-After is kept for its end. */
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
 * A watch has ended in its time, and the next one was asked for already, or may not be asked for yet; `undefined` where
 * neither is so.
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

function cameOf<T>(event: WatchEvent<T>): string {
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

/** What is left of a batch without that which the watch before has told. */
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
    const came = cameOf(event);
    const order = compareResourceVersion(came, until);
    if (order === undefined || order > 0) {
      // An error ends the batch, but says nothing about how far the watch had come.
      const over = event.type !== 'ERROR';
      const left = over ? undefined : { resourceVersion, until };
      return { events: events.slice(at), repeats: left, wentBack: false };
    }
    if (isOlder(came, resourceVersion)) {
      if (event.type !== 'DELETED') return { events: [], repeats: undefined, wentBack: true };
    } else resourceVersion = came;
  }
  const left = resourceVersion === until ? undefined : { resourceVersion, until };
  return { events: [], repeats: left, wentBack: false };
}
