/**
 * The rules for failures: which request the reflector sends after a failure, and after which wait. The reflector
 * retries for ever. It resumes the watch at its last version, lists the collection again, or lists it in pages.
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

/** After this many failed streaming LISTs in a row, the collection is listed in pages. */
const MAX_STREAM_FAILURES = 3;
/** After this many watches in a row that failed and delivered nothing, the collection is listed again. */
const MAX_FRUITLESS = 2;
/**
 * A watch that the server closes sooner than this, in milliseconds, counts as failed. client-go: VeryShortWatchError.
 */
export const VERY_SHORT_MS = 1_000;

/**
 * The longest wait before the list that follows an expired version, in milliseconds. It is random, so that a thousand
 * clients do not list at the same moment.
 */
const SPREAD_MS = 1_000;

type Next<T> = Step<ReflectorState, ReflectorEffect<T>>;

function blockedBy(error: ApiError): Blocked | undefined {
  if (error.code === 401) return 'unauthorized';
  if (error.code === 403) return 'forbidden';
  if (error.reason === 'WrongKind') return 'wrong-kind';
  return error.code === 404 ? 'no-such-resource' : undefined;
}

/** Whether requests have succeeded for so long that earlier failures no longer count. */
function isForgiven(state: ReflectorState, moment: Moment, config: ReflectorConfig): boolean {
  const { healthySinceMs } = state;
  return healthySinceMs !== undefined && moment.nowMs - healthySinceMs >= config.healthyMs;
}

/** Waits, then sends the request that `resume` names. A server's Retry-After is a lower bound of the wait. */
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

/** Waits like {@link waitFor}, for as long as the backoff says. A refresh in progress has failed and is reported. */
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
 * Lists soon after the version of the watch has expired. That response shows that the server works, so the wait that
 * has grown during an outage would only keep the copy stale. This is done once, because a server whose lists and
 * watches disagree would otherwise receive one list request after another.
 */
function versionGone<T>(state: ReflectorState, moment: Moment, config: ReflectorConfig): Next<T> {
  const isForgotten = isForgiven(state, moment, config);
  if (state.listedPromptly && !isForgotten) return backOff(state, 'relist', moment, config);
  const attempt = isForgotten ? 0 : state.attempt;
  // Not longer than the backoff that it replaces.
  const delayMs = Math.min(SPREAD_MS * moment.random, config.backoff(attempt, moment.random));
  const prompt = { ...state, listedPromptly: true };
  return waitFor(prompt, { delayMs, attempt, resume: 'relist' }, moment);
}

/** Whether the server does not know or does not accept the request for a streaming LIST. A LIST in pages is simpler. */
function refusesStreams(error: ApiError): boolean {
  return [400, 405, 406, 415, 422, 501].includes(error.code);
}

/**
 * The requested version has expired, or the server has not reached it yet. Requests the newest version: immediately
 * the first time, then after a wait.
 */
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
  // The next try begins with the streaming LIST again, unless the server does not support it.
  return backOff(state, 'relist', moment, config);
}

/**
 * Retries a failed streaming LIST after a wait. Lists in pages instead if too many streaming LISTs have failed, or if
 * `givesUp` is set. `byServer` says that the server caused the failure; the need for pages is then remembered.
 */
function fruitlessStream<T>(
  state: ReflectorState,
  { givesUp, byServer }: { readonly givesUp: boolean; readonly byServer: boolean },
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const streamFailures = state.streamFailures + 1;
  const pages = givesUp || streamFailures >= MAX_STREAM_FAILURES;
  if (config.initialList === 'stream' || !pages) {
    return backOff({ ...state, streamFailures }, 'relist', moment, config);
  }
  const [next, effects] = backOff<T>({ ...state, streamFailures: 0 }, 'list', moment, config);
  return [next, byServer ? [{ type: 'remember-no-watch-list' }, ...effects] : effects];
}

/** A watch failed and delivered nothing. Resumes it at its version; relists after the second such watch in a row. */
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
  // 401, 403 and 404 may mean that only the permission to watch is missing. The LIST decides whether the reflector is
  // blocked. Until then an earlier block remains.
  if (error.code >= 400 && !error.retryable && !insists) {
    return list({ ...state, blocked: wasBlocked && state.blocked }, moment, config);
  }
  // A response that begins and then stays silent is an ordinary watch: the server has ignored sendInitialEvents.
  const ignored = error.reason === 'Silent' && state.opened;
  const byServer = ignored || error.reason === 'Malformed';
  return fruitlessStream(state, { givesUp: ignored, byServer }, moment, config);
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

/** The next step after the current request has failed. */
export function failed<T>(
  state: ReflectorState,
  error: ApiError,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const failing: ReflectorState = {
    ...state,
    error,
    blocked: blockedBy(error),
    staleSinceMs: state.staleSinceMs ?? moment.nowMs,
  };
  if (state.phase === 'listing')
    return aborting(listFailed(failing, error, moment, config), config);
  if (state.phase === 'streaming') {
    return aborting(streamFailed(failing, error, state.blocked, moment, config), config);
  }
  return watchFailed(failing, error, moment, config);
}

/** The server closed a watch cleanly, but so soon that the watch counts as failed. */
export function shortWatch<T>(
  state: ReflectorState,
  livedMs: number,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const error = ApiError.local('Network', `the server closed the watch after ${livedMs} ms`);
  return fruitlessWatch({ ...state, error, blocked: undefined }, moment, config);
}

/** The server closed a streaming LIST before its end mark. */
export function streamClosed<T>(
  state: ReflectorState,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const error = ApiError.local('Network', 'the server closed the streaming list before its end');
  const closed = { ...state, error, blocked: undefined };
  const how = { givesUp: false, byServer: true };
  return aborting(fruitlessStream(closed, how, moment, config), config);
}

/** The `scope` field of a delta, if the reflector has a scope. */
export function scoped(config: ReflectorConfig): { scope?: string } {
  return config.scope === undefined ? {} : { scope: config.scope };
}

/** Emits the abort of the list in progress before the other effects of the step. */
export function aborting<T>([state, effects]: Next<T>, config: ReflectorConfig): Next<T> {
  const abort = { type: 'replace-abort', ...scoped(config) } as const;
  return [state, [{ type: 'emit', deltas: [abort] }, ...effects]];
}
