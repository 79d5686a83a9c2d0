/**
 * Refreshes: lists that are requested from outside while the reflector watches, waits or lists. Decides when the list
 * is sent. A list that is in progress or due anyway serves the refresh.
 */
import { wait } from './failures.ts';
import { list, relist, retryAfterLeftMs, watchAgain } from './requests.ts';
import {
  type BackingOff,
  isLive,
  type Memory,
  type Moment,
  type Next,
  type Paused,
  type ReflectorInput,
  type ReflectorState,
  remember,
  type Watching,
} from './state.ts';

type Refresh = Extract<ReflectorInput, { kind: 'refresh' }>;

/** Of several refreshes, one that does not trust versions takes precedence. */
function noted<State extends ReflectorState>(state: State, { trustVersions }: Refresh): State {
  const doubts = !trustVersions || state.memory.refreshing === 'doubting';
  return remember(state, { refreshing: doubts ? 'doubting' : 'trusting' });
}

/** Notes that the next list serves the refresh, too. */
export function noteRefresh(state: ReflectorState, input: Refresh): Next {
  return [noted(state, input), []];
}

/** Requests the newest version, because the server's cache may be older than the moment of the refresh. */
function newest(memory: Memory): Memory {
  return { ...memory, versionUnavailable: true };
}

/** Replaces the watch with a list, after which the reflector watches again. */
export function refreshNow({ memory }: Watching, moment: Moment): Next {
  return relist(newest(memory), moment);
}

/** Sends the request that is due after a wait or a pause. */
export function sendDue(
  { memory, resume }: Paused | BackingOff,
  _input: unknown,
  moment: Moment,
): Next {
  if (resume === 'watch') return watchAgain(memory, moment);
  const due = memory.refreshing === undefined ? memory : newest(memory);
  return (resume === 'list' ? list : relist)(due, moment);
}

/**
 * Lists immediately, or after the Retry-After of a next watch that failed. The timer of the next watch serves as the
 * wait.
 */
export function refreshWatching(state: Watching, input: Refresh, moment: Moment): Next {
  const refreshing = noted(state, input);
  const delayMs = retryAfterLeftMs(state.memory, moment);
  if (delayMs === 0) return refreshNow(refreshing, moment);
  return [{ ...refreshing, renewal: 'due' }, [{ type: 'renew-after', delayMs }]];
}

/** Ends the wait, because a refresh was requested. */
export function refreshWaiting(state: BackingOff, input: Refresh, moment: Moment): Next {
  return retryNow(noted(state, input), input, moment);
}

/** Ends a wait or a pause: sends the request that is due, but not before the Retry-After that the server sent earlier. */
export function retryNow(state: Paused | BackingOff, input: unknown, moment: Moment): Next {
  const { memory, resume } = state;
  const leftMs = retryAfterLeftMs(memory, moment);
  return leftMs === 0 ? sendDue(state, input, moment) : wait(memory, resume, leftMs, moment);
}

/** If a refresh was requested before the due watch was answered, lists as soon as it is answered. */
export function refreshAnswered(step: Next, moment: Moment): Next {
  const [state, effects] = step;
  if (state.memory.refreshing === undefined || !isLive(state)) return step;
  if (retryAfterLeftMs(state.memory, moment) > 0) return step;
  const [listing, more] = refreshNow(state, moment);
  return [listing, [...effects, ...more]];
}
