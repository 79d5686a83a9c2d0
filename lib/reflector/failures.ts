/**
 * What a failure leads to. Everything is tried again, for ever, with a wait; the question is only what is tried:
 * the watch where it stood, the collection anew, or the collection in pages.
 */
import { ApiError } from '../meta/api-error.ts';
import type { Step } from '../rx/machine.ts';
import { list, retryAfterLeftMs, stream } from './requests.ts';
import type {
  Blocked,
  Moment,
  ReflectorConfig,
  ReflectorEffect,
  ReflectorState,
  Resume,
} from './state.ts';

/** Streaming LISTs that may come to nothing before pages are asked for. */
const MAX_STREAM_FAILURES = 3;
/** Watches in a row that may end badly and bring nothing before the collection is listed anew. */
const MAX_FRUITLESS = 2;
/** A watch that lived shorter than this and brought nothing: client-go's VeryShortWatchError. */
export const VERY_SHORT_MS = 1_000;

/** A list that a healthy server asks for waits up to this long, so that a thousand clients do not list at once. */
const SPREAD_MS = 1_000;

type Next<T> = Step<ReflectorState, ReflectorEffect<T>>;

function blockedBy(error: ApiError): Blocked | undefined {
  if (error.code === 401) return 'unauthorized';
  if (error.code === 403) return 'forbidden';
  if (error.reason === 'WrongKind') return 'wrong-kind';
  return error.code === 404 ? 'no-such-resource' : undefined;
}

/** Whether all went well for so long that what was before does not count any more. */
function isForgiven(state: ReflectorState, moment: Moment, config: ReflectorConfig): boolean {
  const { healthySinceMs } = state;
  return healthySinceMs !== undefined && moment.nowMs - healthySinceMs >= config.healthyMs;
}

/** Waits, then goes on with `resume`. A server's Retry-After is a lower bound of the wait. */
export function waitFor<T>(
  state: ReflectorState,
  { delayMs: leastMs, attempt, resume }: { delayMs: number; attempt: number; resume: Resume },
  moment: Moment,
): Next<T> {
  const { nowMs } = moment;
  const retryAfterMs = state.error?.retryAfterMs;
  const leftMs = retryAfterLeftMs(state, moment);
  const delayMs = Math.max(leastMs, retryAfterMs ?? 0, leftMs);
  return [
    {
      ...state,
      phase: 'backoff',
      sinceMs: nowMs,
      queued: false,
      opened: false,
      resume,
      attempt: attempt + 1,
      retryAfter:
        retryAfterMs === undefined && leftMs === 0
          ? undefined
          : { sinceMs: nowMs, forMs: Math.max(retryAfterMs ?? 0, leftMs) },
      healthySinceMs: undefined,
      staleSinceMs: state.staleSinceMs ?? nowMs,
      nextRetryAtMs: nowMs + delayMs,
      loaded: 0,
      remaining: undefined,
    },
    [{ type: 'wait', delayMs }],
  ];
}

/** Waits, then goes on with `resume`. A server's Retry-After is a lower bound of the wait. A refresh has failed. */
export function backOff<T>(
  state: ReflectorState,
  resume: Resume,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const attempt = isForgiven(state, moment, config) ? 0 : state.attempt;
  const delayMs = config.backoff(attempt, moment.random);
  const { refreshing, error } = state;
  const given = { ...state, refreshing: undefined };
  const [waiting, effects] = waitFor<T>(given, { delayMs, attempt, resume }, moment);
  if (refreshing === undefined) return [waiting, effects];
  const refreshed = { type: 'refreshed', ...(error === undefined ? {} : { error }) } as const;
  return [waiting, [...effects, refreshed]];
}

/**
 * The version of the watch is gone, so the server works: after an outage the wait that has grown in it would only keep
 * the copy stale. Once, because a server whose lists and watches disagree would be asked for one list after another.
 */
function versionGone<T>(state: ReflectorState, moment: Moment, config: ReflectorConfig): Next<T> {
  const isForgotten = isForgiven(state, moment, config);
  if (state.listedPromptly && !isForgotten) return backOff(state, 'relist', moment, config);
  const attempt = isForgotten ? 0 : state.attempt;
  // No longer than the wait that it spares.
  const delayMs = Math.min(SPREAD_MS * moment.random, config.backoff(attempt, moment.random));
  const prompt = { ...state, listedPromptly: true };
  return waitFor(prompt, { delayMs, attempt, resume: 'relist' }, moment);
}

/** The server does not know the request, or does not like it: a LIST in pages asks for less. */
function refusesStreams(error: ApiError): boolean {
  return [400, 405, 406, 415, 422, 501].includes(error.code);
}

/** The version asked for is gone, or still to come: the newest, at once the first time. */
function askNewest<T>(
  again: typeof list,
  state: ReflectorState,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const newest = { ...state, versionUnavailable: true, retriedNewest: true };
  return state.retriedNewest
    ? backOff(newest, 'list', moment, config)
    : again(newest, moment, config);
}

function listFailed<T>(
  state: ReflectorState,
  error: ApiError,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  if (error.isExpired || error.isTooLargeResourceVersion) {
    return askNewest(list, state, moment, config);
  }
  // Of the next cycle the streaming LIST is the first try again, unless it was given up.
  return backOff(state, 'relist', moment, config);
}

/**
 * A streaming LIST came to nothing: again after a wait, or in pages when that has happened too often or `givesUp`.
 * `shown`: that pages are needed is the server's doing, and worth remembering.
 */
function fruitlessStream<T>(
  state: ReflectorState,
  { givesUp, shown }: { readonly givesUp: boolean; readonly shown: boolean },
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const streamFailures = state.streamFailures + 1;
  const pages = givesUp || streamFailures >= MAX_STREAM_FAILURES;
  if (config.initialList === 'stream' || !pages) {
    return backOff({ ...state, streamFailures }, 'relist', moment, config);
  }
  const [next, effects] = backOff<T>({ ...state, streamFailures: 0 }, 'list', moment, config);
  return [next, shown ? [{ type: 'remember-no-watch-list' }, ...effects] : effects];
}

/** A watch ended badly and brought nothing: where it stood, or anew when that has happened twice in a row. */
function fruitlessWatch<T>(
  state: ReflectorState,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const fruitless = state.fruitless + 1;
  const resume = fruitless >= MAX_FRUITLESS ? 'relist' : 'watch';
  return backOff({ ...state, fruitless }, resume, moment, config);
}

function streamFailed<T>(
  state: ReflectorState,
  error: ApiError,
  wasBlocked: Blocked | undefined,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  if (error.isExpired || error.isTooLargeResourceVersion) {
    return askNewest(stream, state, moment, config);
  }
  const insists = config.initialList === 'stream';
  if (refusesStreams(error) && !insists) {
    const [next, effects] = list<T>(state, moment, config);
    return [next, [{ type: 'remember-no-watch-list' }, ...effects]];
  }
  // 401, 403, 404: the right to watch may be missing where the right to list is not.
  // Whether that blocks is for the list to say; who was blocked stays so meanwhile.
  if (error.code >= 400 && !error.retryable && !insists) {
    return list({ ...state, blocked: wasBlocked && state.blocked }, moment, config);
  }
  // Opened and then nothing: it takes no notice of sendInitialEvents and watches plainly.
  const ignored = error.reason === 'Silent' && state.opened;
  const shown = ignored || error.reason === 'Malformed';
  return fruitlessStream(state, { givesUp: ignored, shown }, moment, config);
}

function watchFailed<T>(
  state: ReflectorState,
  error: ApiError,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  if (error.isExpired) return versionGone(state, moment, config);
  const relists =
    error.isTooLargeResourceVersion || error.isNotFound || error.reason === 'StoreReadError';
  if (relists) return backOff(state, 'relist', moment, config);
  if (['Malformed', 'TooLarge', 'Silent', 'Unexpected'].includes(error.reason)) {
    return fruitlessWatch(state, moment, config);
  }
  const waits = error.retryable || error.code === 401 || error.code === 403;
  return backOff(state, waits ? 'watch' : 'relist', moment, config);
}

/** The next step after a failure of the request under way. */
export function failed<T>(
  state: ReflectorState,
  error: ApiError,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const shown: ReflectorState = {
    ...state,
    error,
    blocked: blockedBy(error),
    staleSinceMs: state.staleSinceMs ?? moment.nowMs,
  };
  if (state.phase === 'listing') return aborting(listFailed(shown, error, moment, config), config);
  if (state.phase === 'streaming') {
    return aborting(streamFailed(shown, error, state.blocked, moment, config), config);
  }
  return watchFailed(shown, error, moment, config);
}

/** A clean end of a watch. At once again, unless it ended as soon as it began. */
export function shortWatch<T>(
  state: ReflectorState,
  livedMs: number,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const error = ApiError.local('Network', `the server closed the watch after ${livedMs} ms`);
  return fruitlessWatch({ ...state, error, blocked: undefined }, moment, config);
}

/** A streaming LIST that the server closed before its end. */
export function streamClosed<T>(
  state: ReflectorState,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const error = ApiError.local('Network', 'the server closed the streaming list before its end');
  const closed = { ...state, error, blocked: undefined };
  const how = { givesUp: false, shown: true };
  return aborting(fruitlessStream(closed, how, moment, config), config);
}

/** The scope that a delta speaks of, where there is one. */
export function scoped(config: ReflectorConfig): { scope?: string } {
  return config.scope === undefined ? {} : { scope: config.scope };
}

/** Says first that the list under way came to nothing. */
export function aborting<T>([state, effects]: Next<T>, config: ReflectorConfig): Next<T> {
  const abort = { type: 'replace-abort', ...scoped(config) } as const;
  return [state, [{ type: 'emit', deltas: [abort] }, ...effects]];
}
