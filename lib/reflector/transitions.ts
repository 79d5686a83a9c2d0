/**
 * The transitions of the reflector's state machine: a table with a rule for every phase and every input. The type of
 * the table makes it total: a phase or an input without a rule does not compile.
 */
import { ApiError } from '../meta/api-error.ts';
import type { Step } from '../rx/machine.ts';
import { readEvents, readStream } from './events.ts';
import { aborting, failed, shortWatch, streamClosed, VERY_SHORT_MS } from './failures.ts';
import { emit, healthy, mustReread, relisted, replaced, replacing, reread } from './lists.ts';
import {
  noteRefresh,
  refreshAnswered,
  refreshWaiting,
  refreshWatching,
  retryNow,
  sendDue,
  sendDueAfterPause,
} from './refresh.ts';
import { list, relist, retryAfterLeftMs, stream, watch } from './requests.ts';
import type {
  Moment,
  ReflectorConfig,
  ReflectorEffect,
  ReflectorInput,
  ReflectorPhase,
  ReflectorState,
} from './state.ts';
import {
  endedEarly,
  renew,
  renewalFailed,
  renewed,
  scheduleRenewal,
  withoutRepeats,
} from './watch-renewal.ts';

type Next<T> = Step<ReflectorState, ReflectorEffect<T>>;
type Rule<T, Input> = (
  state: ReflectorState,
  input: Input,
  moment: Moment,
  config: ReflectorConfig,
) => Next<T>;
type InputOf<T, Type> = Extract<ReflectorInput<T>, { type: Type }>;
type Rules<T> = {
  readonly [Type in ReflectorInput<T>['type']]: Rule<T, InputOf<T, Type>>;
};
/** A rule for every phase and input. */
export type ReflectorTable<T> = { readonly [Phase in ReflectorPhase]: Rules<T> };

/** Ignores an input, for example a late response to a request that no longer matters. */
const ignore = <T>(state: ReflectorState): Next<T> => [state, []];
const markQueued = <T>(state: ReflectorState, { reason }: InputOf<T, 'queued'>): Next<T> => [
  { ...state, queued: true, waitingFor: reason },
  [],
];
const markSending = <T>(state: ReflectorState, _input: unknown, moment: Moment): Next<T> => [
  { ...state, queued: false, requestedMs: moment.nowMs },
  [],
];
const markOpened = <T>(state: ReflectorState): Next<T> => [
  { ...state, queued: false, opened: true },
  [],
];

const onFailed = <T>(
  state: ReflectorState,
  input: InputOf<T, 'failed'>,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> => failed<T>(state, input.error, moment, config);

function watchEvents<T>(
  state: ReflectorState,
  input: InputOf<T, 'events'>,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const fresh =
    state.repeats === undefined ? undefined : withoutRepeats(input.events, state.repeats);
  const reading = readEvents(fresh?.events ?? input.events, state, config.scope);
  const { deltas, resourceVersion, adopting } = reading;
  const live: ReflectorState = {
    ...healthy(state, moment),
    repeats: fresh?.repeats,
    resourceVersion,
    adopting,
    staleSinceMs: undefined,
    fruitless: input.events.length > 0 && reading.error === undefined ? 0 : state.fruitless,
  };
  if (reading.error !== undefined) {
    const [next, effects] = failed<T>(live, reading.error, moment, config);
    return [next, [...emit(deltas), ...effects]];
  }
  if (reading.wentBack || fresh?.wentBack === true) {
    const message =
      'an event is older than a version already seen: events are out of order, or the server has another history now';
    const [next, effects] = failed<T>(
      { ...live, versionUnavailable: true },
      new ApiError({ code: 410, reason: 'Expired', message }),
      moment,
      config,
    );
    return [next, [...emit(deltas), ...effects]];
  }
  return [live, emit(deltas)];
}

function streamEvents<T>(
  state: ReflectorState,
  input: InputOf<T, 'events'>,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  const { objects, keys, removed, rejected, unparsed, end, error } = readStream(input.events);
  const reused = state.reused || unparsed;
  const part = emit(replacing(objects, removed, rejected, config, keys));
  if (error !== undefined) {
    const [next, effects] = failed<T>({ ...state, opened: true }, error, moment, config);
    return [next, effects];
  }
  if (end === undefined) {
    const loaded = state.loaded + objects.length - removed.length;
    const blocked = objects.length > 0 ? undefined : state.blocked;
    const partial = {
      ...state,
      queued: false,
      opened: true,
      loaded: Math.max(0, loaded),
      blocked,
      reused,
    };
    return [partial, part];
  }
  if (mustReread({ ...state, reused }, end.resourceVersion)) return reread(state, moment, config);
  const lastPart = emit(replacing<T>([], removed, rejected, config));
  const [listed, commit] = replaced(state, end.resourceVersion, objects, [], config);
  const watching: ReflectorState = {
    ...healthy(listed, moment),
    phase: 'watching',
    sinceMs: moment.nowMs,
    adopting: true,
  };
  // The stream continues as the watch, without a second request.
  const rest = { type: 'events', events: end.rest } as const;
  const [next, effects] =
    end.rest.length === 0 ? ignore<T>(watching) : watchEvents<T>(watching, rest, moment, config);
  return [next, [...lastPart, ...commit, ...effects]];
}

/** The client ended the watch so that others have their turn. Its next request waits, so nothing is being connected. */
const queuedAgain = <T>([state, effects]: Next<T>): Next<T> => [
  { ...state, queued: true },
  effects,
];

/** Requests the watch again: after a sleep its connection may be dead. A request that is new or waits is left alone. */
const watchAgain = <T>(
  state: ReflectorState,
  _input: unknown,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> => {
  const isNew = Math.abs(moment.nowMs - state.requestedMs) < VERY_SHORT_MS;
  if (state.queued || isNew || retryAfterLeftMs(state, moment) > 0) return ignore<T>(state);
  return watch<T>({ ...state, reconnects: state.reconnects + 1 }, moment, config);
};

/** Aborts the request until the demand opens. */
const pause = <T>(state: ReflectorState, _input: unknown, moment: Moment): Next<T> => [
  {
    ...state,
    phase: 'paused',
    sinceMs: moment.nowMs,
    resume: state.phase === 'watching' ? 'watch' : 'relist',
    staleSinceMs: state.staleSinceMs ?? moment.nowMs,
  },
  [{ type: 'await-demand' }],
];

/** Creates the table for objects of type `T`. */
export function reflectorTable<T>(): ReflectorTable<T> {
  const ignoreAll: Rules<T> = {
    queued: ignore,
    sending: ignore,
    opened: ignore,
    doubted: ignore,
    part: ignore,
    restart: ignore,
    listed: ignore,
    events: ignore,
    relisted: ignore,
    closed: ignore,
    failed: ignore,
    yielded: ignore,
    awake: ignore,
    elapsed: ignore,
    paused: ignore,
    resumed: ignore,
    refresh: ignore,
    renew: ignore,
    renewed: ignore,
    'renewal-failed': ignore,
  };
  return {
    listing: {
      ...ignoreAll,
      refresh: noteRefresh,
      queued: markQueued,
      sending: markSending,
      opened: markOpened,
      part: (state, { items, rejected, unparsed, remaining }, _moment, config) => [
        {
          ...state,
          queued: false,
          opened: true,
          loaded: state.loaded + items.length,
          remaining,
          blocked: items.length > 0 ? undefined : state.blocked,
          reused: state.reused || unparsed === true,
        },
        emit(replacing(items, [], rejected, config)),
      ],
      restart: (state, _input, _moment, config) =>
        aborting([{ ...state, loaded: 0, remaining: undefined, reused: false }, []], config),
      listed: (state, { resourceVersion, paginated }, moment, config) => {
        if (mustReread(state, resourceVersion)) return reread<T>(state, moment, config);
        const atHand = state.resourceVersion === '' && !state.versionUnavailable;
        const [listed, commit] = replaced<T>(state, resourceVersion, [], [], config);
        const next = { ...listed, paginated: state.paginated || (atHand && paginated) };
        const [watching, effects] = watch<T>(healthy(next, moment), moment, config);
        return [watching, [...commit, ...effects]];
      },
      failed: onFailed,
      yielded: (state, _input, moment, config) => aborting(list<T>(state, moment, config), config),
      paused: (state, input, moment, config) => aborting(pause<T>(state, input, moment), config),
    },
    streaming: {
      ...ignoreAll,
      refresh: noteRefresh,
      queued: markQueued,
      sending: markSending,
      opened: markOpened,
      events: streamEvents,
      relisted,
      closed: (state, _input, moment, config) => streamClosed(state, moment, config),
      failed: onFailed,
      yielded: (state, _input, moment, config) =>
        aborting(stream<T>(state, moment, config), config),
      paused: (state, input, moment, config) => aborting(pause<T>(state, input, moment), config),
    },
    watching: {
      ...ignoreAll,
      queued: markQueued,
      sending: markSending,
      opened: (state, _input, moment) => [
        { ...healthy(state, moment), staleSinceMs: undefined },
        [],
      ],
      doubted: (state, _input, { nowMs }) => [
        { ...state, staleSinceMs: state.staleSinceMs ?? nowMs },
        [],
      ],
      events: watchEvents,
      relisted,
      closed: (state, _input, moment, config) => {
        const livedMs = moment.nowMs - state.requestedMs;
        // A negative time means that the clock was set back, not that the watch was short.
        if (livedMs >= 0 && livedMs < VERY_SHORT_MS)
          return shortWatch(state, livedMs, moment, config);
        const lived = { ...state, fruitless: 0, reconnects: state.reconnects + 1 };
        return endedEarly<T>(lived, moment) ?? watch(lived, moment, config);
      },
      failed: onFailed,
      yielded: (state, _input, moment, config) => queuedAgain(watch<T>(state, moment, config)),
      awake: watchAgain,
      paused: pause,
      renew,
      renewed,
      'renewal-failed': renewalFailed,
      refresh: refreshWatching,
    },
    paused: {
      ...ignoreAll,
      resumed: (state, _input, moment, config) => sendDueAfterPause<T>(state, moment, config),
      refresh: noteRefresh,
    },
    backoff: {
      ...ignoreAll,
      elapsed: (state, _input, moment, config) => sendDue<T>(state, moment, config),
      awake: retryNow,
      refresh: refreshWaiting,
    },
    stopped: ignoreAll,
  };
}

/** The first step: lists the complete collection, or watches from a version that is known already. */
export function startReflector<T>(
  state: ReflectorState,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  return (state.synced ? watch : relist)(state, moment, config);
}

/** Replaces the step after a failure if `onError` returned 'stop': emits what is pending and completes. */
export function stopReflector<T>([state, effects]: Next<T>, moment: Moment): Next<T> {
  const { nowMs } = moment;
  const stopped: ReflectorState = {
    ...state,
    phase: 'stopped',
    sinceMs: nowMs,
    nextRetryAtMs: undefined,
  };
  const reports = effects.filter(({ type }) => type === 'emit' || type === 'refreshed');
  return [stopped, [...reports, { type: 'complete' }]];
}

/** The transition function of the machine. It is pure, because `moment` passes the time and the random number in. */
export function nextReflector<T>(
  table: ReflectorTable<T>,
  state: ReflectorState,
  input: ReflectorInput<T>,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  // The type of the table ties each input to its rule, but TypeScript loses that tie in an indexed access.
  const rule = table[state.phase][input.type] as Rule<T, ReflectorInput<T>>;
  const step = refreshAnswered(rule(state, input, moment, config), moment, config);
  return scheduleRenewal(state, step, moment, config);
}
