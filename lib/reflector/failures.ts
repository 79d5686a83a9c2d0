/**
 * The rules for failures: which request the reflector sends after a failure, and after which wait. The reflector
 * retries for ever. It resumes the watch at its last version, lists the collection again, or lists it in pages.
 */
import { ApiError } from '../meta/api-error.ts';
import { list, retryAfterLeftMs, stream } from './requests.ts';
import type {
  Blocked,
  Listing,
  Memory,
  Moment,
  Next,
  Resume,
  Streaming,
  Watching,
} from './state.ts';

/** After this many failed streaming LISTs in a row, the collection is listed in pages. */
const MAX_STREAM_FAILURES = 3;
/** After this many watches in a row that failed and delivered nothing, the collection is listed again. */
const MAX_FRUITLESS = 2;
/** How often that number doubles while watches are only silent, because the collection may be quiet and the server send no bookmarks. */
const MOST_DOUBLINGS = 4;
/** A watch that has lasted this long, in milliseconds, or has delivered something, was healthy. */
const HEALTHY_WATCH_MS = 10_000;
/** The shortest time between the requests for two watches of which the first was healthy and was lost, in milliseconds. */
const LOST_EVERY_MS = 5_000;
/**
 * A watch that the server closes sooner than this, in milliseconds, counts as failed. client-go: VeryShortWatchError.
 */
export const VERY_SHORT_MS = 1_000;

/**
 * The longest wait after an expired version, and after the loss of a healthy watch, in milliseconds. It is random, so that
 * a thousand clients do not send their requests at the same moment.
 */
const SPREAD_MS = 1_000;

function blockedBy(error: ApiError): Blocked | undefined {
  if (error.code === 401) return 'unauthorized';
  if (error.code === 403) return 'forbidden';
  if (error.reason === 'WrongKind') return 'wrong-kind';
  return error.code === 404 ? 'no-such-resource' : undefined;
}

/** Whether requests have succeeded for so long that earlier failures no longer count. */
function isForgiven({ healthySinceMs }: Memory, { nowMs, config }: Moment): boolean {
  return healthySinceMs !== undefined && nowMs - healthySinceMs >= config.healthyMs;
}

/** Waits, then sends the request that `resume` names. */
export function wait(memory: Memory, resume: Resume, delayMs: number, { nowMs }: Moment): Next {
  const nextRetryAtMs = nowMs + delayMs;
  const waiting = { ...memory, catchUpMs: Math.min(memory.catchUpMs, 1) };
  return [
    { phase: 'backoff', memory: waiting, resume, nextRetryAtMs },
    [{ type: 'wait', delayMs }],
  ];
}

/** Waits for as long as the backoff says, but at most for `mostMs`, and at least for a server's Retry-After. */
function waitForRetry(memory: Memory, resume: Resume, moment: Moment, mostMs: number): Next {
  const { nowMs, random, config } = moment;
  const attempt = isForgiven(memory, moment) ? 0 : memory.attempt;
  const forMs = Math.max(memory.error?.retryAfterMs ?? 0, retryAfterLeftMs(memory, moment));
  const delayMs = Math.max(Math.min(mostMs, config.backoff(attempt, random)), forMs);
  const waiting = {
    ...memory,
    attempt: attempt + 1,
    retryAfter: forMs === 0 ? undefined : { sinceMs: nowMs, forMs },
    healthySinceMs: undefined,
  };
  return wait(waiting, resume, delayMs, moment);
}

/** Waits for as long as the backoff says. A refresh in progress has failed and is reported. */
function backOff(memory: Memory, resume: Resume, moment: Moment): Next {
  const { refreshing, error } = memory;
  const given = { ...memory, refreshing: undefined };
  const [waiting, effects] = waitForRetry(given, resume, moment, Number.POSITIVE_INFINITY);
  if (refreshing === undefined) return [waiting, effects];
  return [waiting, [...effects, { type: 'refreshed', error }]];
}

/**
 * Lists soon after the version of the watch has expired. That response shows that the server works, so the wait that
 * has grown during an outage would only keep the copy stale. This is done once, because a server whose lists and
 * watches disagree would otherwise receive one list request after another.
 */
function versionGone(memory: Memory, moment: Moment): Next {
  if (memory.listedPromptly && !isForgiven(memory, moment))
    return backOff(memory, 'relist', moment);
  const prompt = { ...memory, listedPromptly: true };
  return waitForRetry(prompt, 'relist', moment, SPREAD_MS * moment.random);
}

/** Whether the server does not know or does not accept the request for a streaming LIST. A LIST in pages is simpler. */
function refusesStreams(error: ApiError): boolean {
  return [400, 405, 406, 415, 422, 501].includes(error.code);
}

/** Whether the requested version has expired, or the server has not reached it yet. */
function isVersionUnavailable(error: ApiError): boolean {
  return error.isExpired || error.isTooLargeResourceVersion;
}

/** Requests the newest version: immediately the first time, then after a wait. */
function askNewest(again: typeof list, memory: Memory, moment: Moment): Next {
  const newest = { ...memory, versionUnavailable: true, retriedNewest: true };
  return memory.retriedNewest ? backOff(newest, 'list', moment) : again(newest, moment);
}

function listFailed(memory: Memory, error: ApiError, moment: Moment): Next {
  if (isVersionUnavailable(error)) return askNewest(list, memory, moment);
  // The next try begins with the streaming LIST again, unless the server does not support it.
  return backOff({ ...memory, refusesStreams: false }, 'relist', moment);
}

/**
 * Retries a failed streaming LIST after a wait. Lists in pages instead if too many streaming LISTs have failed, or if
 * `givesUp` is set. `byServer` says that the server caused the failure; the need for pages is then remembered.
 */
function fruitlessStream(
  memory: Memory,
  { givesUp, byServer }: { readonly givesUp: boolean; readonly byServer: boolean },
  moment: Moment,
): Next {
  const streamFailures = memory.streamFailures + 1;
  const pages = givesUp || streamFailures >= MAX_STREAM_FAILURES;
  if (moment.config.initialList === 'stream' || !pages) {
    return backOff({ ...memory, streamFailures }, 'relist', moment);
  }
  const [next, effects] = backOff({ ...memory, streamFailures: 0 }, 'list', moment);
  return [next, byServer ? [{ type: 'remember-no-watch-list' }, ...effects] : effects];
}

/**
 * Lists in pages after streaming LISTs that ended with a 5xx. A server that cannot answer such a request may say so, and
 * one that is overloaded, too. Only the first of them answers a LIST at the same moment.
 */
function listInstead(memory: Memory, moment: Moment): Next {
  const suspecting = { ...memory, streamFailures: 0, refusesStreams: true };
  const waits = memory.error?.retryAfterMs !== undefined || retryAfterLeftMs(memory, moment) > 0;
  return waits ? backOff(suspecting, 'list', moment) : list(suspecting, moment);
}

/** A watch failed and delivered nothing. Resumes it at its version; relists after the second such watch in a row. */
function fruitlessWatch(memory: Memory, moment: Moment): Next {
  const fruitless = memory.fruitless + 1;
  const resume = fruitless >= MAX_FRUITLESS ? 'relist' : 'watch';
  return backOff({ ...memory, fruitless }, resume, moment);
}

/**
 * An answered watch was lost. If it was healthy, the failure says nothing about the server: many balancers cut each
 * connection after some seconds or minutes. It resumes without the backoff, which would grow from cut to cut.
 */
function lostWatch(state: Watching, memory: Memory, moment: Moment): Next | undefined {
  const { nowMs, random, config } = moment;
  const livedMs = Math.max(0, nowMs - state.requestedMs);
  const wasHealthy = state.opened && (state.delivered || livedMs >= HEALTHY_WATCH_MS);
  if (!wasHealthy || retryAfterLeftMs(memory, moment) > 0) return undefined;
  const delayMs = Math.max(LOST_EVERY_MS - livedMs, SPREAD_MS * random);
  const attempt = isForgiven(memory, moment) ? 0 : memory.attempt;
  return config.backoff(attempt, random) <= delayMs
    ? undefined
    : wait(memory, 'watch', delayMs, moment);
}

/** An answered watch was silent. A quiet collection of a server that sends no bookmarks is not listed again and again. */
function silentWatch(state: Watching, memory: Memory, moment: Moment): Next {
  const fruitless = memory.fruitless + 1;
  const most = MAX_FRUITLESS * 2 ** Math.min(memory.silentLists, MOST_DOUBLINGS);
  const next = { ...memory, fruitless };
  if (fruitless < most) return lostWatch(state, next, moment) ?? backOff(next, 'watch', moment);
  return backOff({ ...next, silentLists: memory.silentLists + 1 }, 'relist', moment);
}

function streamFailed(state: Streaming, memory: Memory, error: ApiError, moment: Moment): Next {
  if (isVersionUnavailable(error)) return askNewest(stream, memory, moment);
  const insists = moment.config.initialList === 'stream';
  if (refusesStreams(error) && !insists) {
    const [next, effects] = list(memory, moment);
    return [next, [{ type: 'remember-no-watch-list' }, ...effects]];
  }
  // 401, 403 and 404 may mean that only the permission to watch is missing. The LIST decides whether the reflector is
  // blocked. Until then an earlier block remains.
  if (error.code >= 400 && !error.retryable && !insists) {
    return list({ ...memory, blocked: state.memory.blocked && memory.blocked }, moment);
  }
  // A response that begins and then stays silent is an ordinary watch: the server has ignored sendInitialEvents.
  const ignored = error.reason === 'Silent' && state.opened;
  if (error.code >= 500 && memory.streamFailures + 1 >= MAX_STREAM_FAILURES && !insists) {
    return listInstead(memory, moment);
  }
  const byServer = ignored || error.reason === 'Malformed';
  return fruitlessStream(memory, { givesUp: ignored, byServer }, moment);
}

function watchFailed(state: Watching, memory: Memory, error: ApiError, moment: Moment): Next {
  if (error.isExpired) return versionGone(memory, moment);
  if (error.reason === 'Silent' && state.opened) return silentWatch(state, memory, moment);
  const lost = error.reason === 'Network' ? lostWatch(state, memory, moment) : undefined;
  if (lost !== undefined) return lost;
  if (['Malformed', 'TooLarge', 'Silent', 'Unexpected'].includes(error.reason)) {
    return fruitlessWatch(memory, moment);
  }
  const isLost =
    error.isTooLargeResourceVersion || error.isNotFound || error.reason === 'StoreReadError';
  const waits = error.retryable || error.code === 401 || error.code === 403;
  return backOff(memory, waits && !isLost ? 'watch' : 'relist', moment);
}

/** The next step after the current request has failed. */
export function failed(
  state: Listing | Streaming | Watching,
  { error }: { readonly error: ApiError },
  moment: Moment,
): Next {
  const memory = { ...state.memory, error, blocked: blockedBy(error) };
  switch (state.phase) {
    case 'listing':
      return aborting(listFailed(memory, error, moment), moment);
    case 'streaming':
      return aborting(streamFailed(state, memory, error, moment), moment);
    case 'watching':
      return watchFailed(state, memory, error, moment);
  }
}

/** The server closed a watch cleanly, but so soon that the watch counts as failed. */
export function shortWatch(memory: Memory, livedMs: number, moment: Moment): Next {
  const error = ApiError.local('Network', `the server closed the watch after ${livedMs} ms`);
  return fruitlessWatch({ ...memory, error, blocked: undefined }, moment);
}

/** The server closed a streaming LIST before its end mark. */
export function streamClosed({ memory }: Streaming, _input: unknown, moment: Moment): Next {
  const error = ApiError.local('Network', 'the server closed the streaming list before its end');
  const closed = { ...memory, error, blocked: undefined };
  return aborting(fruitlessStream(closed, { givesUp: false, byServer: true }, moment), moment);
}

/** Emits the abort of the list in progress before the other effects of the step. */
export function aborting([state, effects]: Next, { config: { scope } }: Moment): Next {
  return [state, [{ type: 'emit', deltas: [{ type: 'replace-abort', scope }] }, ...effects]];
}
