/**
 * A list that somebody asked for while the reflector does something else: when it is due, and how it is asked for. What
 * is under way or waited for anyway comes first.
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

/** Asks the next list to answer the refresh, too; one that doubts versions outweighs one that trusts them. */
export function noteRefresh<T>(state: ReflectorState, { trustVersions }: Refresh<T>): Next<T> {
  const doubts = !trustVersions || state.refreshing === 'doubting';
  return [{ ...state, refreshing: doubts ? 'doubting' : 'trusting' }, []];
}

/** The newest that the server has: what it had at hand may be older than the moment of the call. */
function newest(state: ReflectorState, moment: Moment): ReflectorState {
  const staleSinceMs = state.staleSinceMs ?? moment.nowMs;
  return { ...state, versionUnavailable: true, staleSinceMs };
}

/** Lists instead of watching, and watches from there. */
export function refreshNow<T>(
  state: ReflectorState,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  return relist(newest(state, moment), moment, config);
}

/** Goes on with what was to come: after a wait or a pause. */
export function goOn<T>(state: ReflectorState, moment: Moment, config: ReflectorConfig): Next<T> {
  if (state.resume === 'watch') {
    return watch({ ...state, reconnects: state.reconnects + 1 }, moment, config);
  }
  const due = state.refreshing === undefined ? state : newest(state, moment);
  return due.resume === 'list' ? list(due, moment, config) : relist(due, moment, config);
}

/** Goes on after a pause; what the server said before it holds. */
export function goOnAfterPause<T>(
  state: ReflectorState,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const { resume, attempt } = state;
  const delayMs = retryAfterLeftMs(state, moment);
  if (delayMs === 0) return goOn(state, moment, config);
  return waitFor(state, { delayMs, attempt, resume }, moment);
}

/** Lists at once, or when the next watch may be asked for: the server has refused one for a while. */
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

/** Ends the wait: what is due is done at once, but not before the server's Retry-After. */
export function refreshWaiting<T>(
  state: ReflectorState,
  input: Refresh<T>,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const [noted] = noteRefresh(state, input);
  const delayMs = retryAfterLeftMs(state, moment);
  if (delayMs === 0) return goOn(noted, moment, config);
  return [{ ...noted, nextRetryAtMs: moment.nowMs + delayMs }, [{ type: 'wait', delayMs }]];
}

/** Once the watch that was due is answered, the list follows. */
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
