/**
 * Decides when a watch is live again after an outage or a list. The changes that were made meanwhile arrive after the
 * response has begun, or after the list, and Kubernetes does not mark their end. Therefore the watch is live when nothing has arrived for a moment, after a
 * bookmark, or after some seconds at the latest, because a busy collection is never quiet.
 */
import type { WatchEvent } from '../decode/watch-event.ts';
import type { Moment, Next, Watching } from './state.ts';

type Event = Pick<WatchEvent<unknown>, 'type'>;

/** After an outage or a list that is shorter than this, in milliseconds, an answered watch is live immediately. */
const SHORT_MS = 2_000;
/** The shortest and the longest time between two ticks, in milliseconds. */
const TICK_MS = 100;
const LONGEST_TICK_MS = 1_000;
/**
 * The number of ticks in a row without an arrival that make a watch live. After a blocked thread the first tick may come
 * before the bytes that have arrived meanwhile are read, so two are not enough.
 */
const QUIET_TICKS = 3;
/** How long watches may catch up after one outage, in milliseconds. */
const LIMIT_MS = 10_000;

/** The watch is live: the changes of the outage have arrived. */
function caughtUp(state: Watching): Next {
  const memory = { ...state.memory, staleSinceMs: undefined, catchUpMs: 0 };
  return [{ ...state, memory, tickMs: 0 }, []];
}

function tick(state: Watching, tickMs: number, quiet: number): Next {
  return [{ ...state, tickMs, quiet }, [{ type: 'tick-after', delayMs: tickMs }]];
}

/** The watch was answered, or something arrived although it was doubted: it is live, or begins to catch up. */
export function catchUp(
  state: Watching,
  { nowMs, config }: Moment,
  answerMs: number = nowMs - state.requestedMs,
): Next {
  const { staleSinceMs = nowMs, catchUpMs } = state.memory;
  const awayMs = nowMs - staleSinceMs;
  // A negative time means that the clock was set back. A proxy that holds events back delivers all of them together.
  const wasShort = awayMs >= 0 && awayMs < SHORT_MS && catchUpMs === 0;
  if (wasShort || config.isHeldBack()) return caughtUp(state);
  // Over a slow line, a burst of changes takes as long as the response to follow the one before it.
  return tick(state, Math.min(Math.max(TICK_MS, answerMs / 2), LONGEST_TICK_MS), 0);
}

/** Something has arrived. After a bookmark, nothing older can follow. */
export function heard(state: Watching, events: readonly Event[], moment: Moment): Next {
  if (state.memory.staleSinceMs === undefined) return [state, []];
  if (events.some(({ type }) => type === 'BOOKMARK')) return caughtUp(state);
  return state.tickMs === 0 ? catchUp(state, moment) : [{ ...state, quiet: 0 }, []];
}

/** The watch is live after some ticks without an arrival. While the consumer does not read, bytes may wait. */
export function ticked(state: Watching, _input: unknown, { isReading }: Moment): Next {
  const { tickMs, memory, opened } = state;
  if (tickMs === 0 || !opened) return [state, []];
  const quiet = isReading ? state.quiet + 1 : 0;
  const catchUpMs = memory.catchUpMs + tickMs;
  if (quiet === QUIET_TICKS || catchUpMs >= LIMIT_MS) return caughtUp(state);
  return tick({ ...state, memory: { ...memory, catchUpMs } }, tickMs, quiet);
}
