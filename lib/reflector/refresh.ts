/**
 * Refreshes: lists that are requested from outside while the reflector watches, waits or lists. Decides when the list
 * is sent. A list that is in progress or due anyway serves the refresh.
 */
import type { Step } from '../rx/machine.ts';
import { waitFor } from './failures.ts';
import { list, relist, retryAfterLeftMs, watch } from './requests.ts';
import type {
  Moment,
  ReflectorConfig,
  ReflectorEffect,
  ReflectorInput,
  ReflectorState,
} from './state.ts';

type Next<T> = Step<ReflectorState, ReflectorEffect<T>>;
type Refresh<T> = Extract<ReflectorInput<T>, { type: 'refresh' }>;

/**
 * Notes that the next list serves the refresh, too. Of several refreshes, one that does not trust versions takes
 * precedence.
 */
export function noteRefresh<T>(state: ReflectorState, { trustVersions }: Refresh<T>): Next<T> {
  const doubts = !trustVersions || state.refreshing === 'doubting';
  return [{ ...state, refreshing: doubts ? 'doubting' : 'trusting' }, []];
}

/** Requests the newest version, because the server's cache may be older than the moment of the refresh. */
function newest(state: ReflectorState, moment: Moment): ReflectorState {
  const staleSinceMs = state.staleSinceMs ?? moment.nowMs;
  return { ...state, versionUnavailable: true, staleSinceMs };
}

/** Replaces the watch with a list, after which the reflector watches again. */
export function refreshNow<T>(
  state: ReflectorState,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  return relist(newest(state, moment), moment, config);
}

/** Sends the request that is due after a wait or a pause. */
export function sendDue<T>(
  state: ReflectorState,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  if (state.resume === 'watch') {
    return watch({ ...state, reconnects: state.reconnects + 1 }, moment, config);
  }
  const due = state.refreshing === undefined ? state : newest(state, moment);
  return due.resume === 'list' ? list(due, moment, config) : relist(due, moment, config);
}

/** Sends the request that is due after a pause, but not before the Retry-After that the server sent earlier. */
export function sendDueAfterPause<T>(
  state: ReflectorState,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const { resume, attempt } = state;
  const delayMs = retryAfterLeftMs(state, moment);
  if (delayMs === 0) return sendDue(state, moment, config);
  return waitFor(state, { delayMs, attempt, resume }, moment);
}

/**
 * Lists immediately, or after the Retry-After of a next watch that failed. The timer of the next watch serves as the
 * wait.
 */
export function refreshWatching<T>(
  state: ReflectorState,
  input: Refresh<T>,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const [noted] = noteRefresh(state, input);
  const delayMs = retryAfterLeftMs(state, moment);
  if (delayMs === 0) return refreshNow(noted, moment, config);
  return [{ ...noted, renewal: 'due' }, [{ type: 'renew-after', delayMs }]];
}

/** Ends the wait: sends the request that is due immediately, but not before the server's Retry-After. */
export function refreshWaiting<T>(
  state: ReflectorState,
  input: Refresh<T>,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const [noted] = noteRefresh(state, input);
  return retryNow(noted, input, moment, config);
}

/** Ends the wait, without a refresh. */
export function retryNow<T>(
  state: ReflectorState,
  _input: unknown,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const delayMs = retryAfterLeftMs(state, moment);
  if (delayMs === 0) return sendDue(state, moment, config);
  return [{ ...state, nextRetryAtMs: moment.nowMs + delayMs }, [{ type: 'wait', delayMs }]];
}

/** If a refresh was requested before the due watch was answered, lists as soon as it is answered. */
export function refreshAnswered<T>(
  [state, effects]: Next<T>,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const { phase, opened, refreshing } = state;
  if (refreshing === undefined || phase !== 'watching' || !opened) return [state, effects];
  if (retryAfterLeftMs(state, moment) > 0) return [state, effects];
  const [listing, more] = refreshNow<T>(state, moment, config);
  return [listing, [...effects, ...more]];
}
