/**
 * The reflector's machine: for every phase and every input, what follows. The table is total by its type; a
 * phase or an input without a rule does not compile.
 */
import { ApiError } from '../meta/api-error.ts';
import type { Step } from '../rx/machine.ts';
import { readEvents, readStream } from './events.ts';
import { aborting, failed, shortWatch, streamClosed, VERY_SHORT_MS } from './failures.ts';
import { emit, healthy, relisted, replaced, replacing } from './lists.ts';
import {
  goOn,
  goOnAfterPause,
  noteRefresh,
  refreshAnswered,
  refreshWaiting,
  refreshWatching,
} from './refresh.ts';
import { relist, watch } from './requests.ts';
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

/** Nothing follows: a late answer of a request that is no longer of interest. */
const ignore = <T>(state: ReflectorState): Next<T> => [state, []];
const markQueued = <T>(state: ReflectorState): Next<T> => [{ ...state, queued: true }, []];
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
  const came =
    state.repeats === undefined ? undefined : withoutRepeats(input.events, state.repeats);
  const reading = readEvents(came?.events ?? input.events, state, config.scope);
  const { deltas, resourceVersion, adopting } = reading;
  const live: ReflectorState = {
    ...healthy(state, moment),
    repeats: came?.repeats,
    resourceVersion,
    adopting,
    staleSinceMs: undefined,
    fruitless: input.events.length > 0 && reading.error === undefined ? 0 : state.fruitless,
  };
  if (reading.error !== undefined) {
    const [next, effects] = failed<T>(live, reading.error, moment, config);
    return [next, [...emit(deltas), ...effects]];
  }
  if (reading.wentBack || came?.wentBack === true) {
    const message =
      'the server went back behind what was seen: out of order, or its history is another one now';
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
  const { objects, removed, rejected, end, error } = readStream(input.events);
  const part = emit(replacing(objects, removed, rejected, config));
  if (error !== undefined) {
    const [next, effects] = failed<T>({ ...state, opened: true }, error, moment, config);
    return [next, effects];
  }
  if (end === undefined) {
    const loaded = state.loaded + objects.length - removed.length;
    const blocked = objects.length > 0 ? undefined : state.blocked;
    const partial = { ...state, queued: false, opened: true, loaded: Math.max(0, loaded), blocked };
    return [partial, part];
  }
  const inFront = emit(replacing<T>([], removed, rejected, config));
  const [whole, commit] = replaced(state, end.resourceVersion, objects, [], config);
  const watching: ReflectorState = {
    ...healthy(whole, moment),
    phase: 'watching',
    sinceMs: moment.nowMs,
    adopting: true,
  };
  // The stream goes on as a watch: no second request.
  const rest = { type: 'events', events: end.rest } as const;
  const [next, effects] =
    end.rest.length === 0 ? ignore<T>(watching) : watchEvents<T>(watching, rest, moment, config);
  return [next, [...inFront, ...commit, ...effects]];
}

/** Drops the request until the consumer has room. */
const pause = <T>(state: ReflectorState, _input: unknown, moment: Moment): Next<T> => [
  {
    ...state,
    phase: 'paused',
    sinceMs: moment.nowMs,
    resume: state.phase === 'watching' ? 'watch' : 'relist',
    staleSinceMs: state.staleSinceMs ?? moment.nowMs,
  },
  [{ type: 'await-room' }],
];

/** The table for objects of type `T`. */
export function reflectorTable<T>(): ReflectorTable<T> {
  const deaf: Rules<T> = {
    queued: ignore,
    sending: ignore,
    opened: ignore,
    part: ignore,
    restart: ignore,
    listed: ignore,
    events: ignore,
    relisted: ignore,
    closed: ignore,
    failed: ignore,
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
      ...deaf,
      refresh: noteRefresh,
      queued: markQueued,
      sending: markSending,
      opened: markOpened,
      part: (state, { items, rejected, remaining }, _moment, config) => [
        {
          ...state,
          queued: false,
          opened: true,
          loaded: state.loaded + items.length,
          remaining,
          blocked: items.length > 0 ? undefined : state.blocked,
        },
        emit(replacing(items, [], rejected, config)),
      ],
      restart: (state, _input, _moment, config) =>
        aborting([{ ...state, loaded: 0, remaining: undefined }, []], config),
      listed: (state, { resourceVersion, paginated }, moment, config) => {
        const atHand = state.resourceVersion === '' && !state.versionUnavailable;
        const [listed, commit] = replaced<T>(state, resourceVersion, [], [], config);
        const next = { ...listed, paginated: state.paginated || (atHand && paginated) };
        const [watching, effects] = watch<T>(healthy(next, moment), moment, config);
        return [watching, [...commit, ...effects]];
      },
      failed: onFailed,
      paused: (state, input, moment, config) => aborting(pause<T>(state, input, moment), config),
    },
    streaming: {
      ...deaf,
      refresh: noteRefresh,
      queued: markQueued,
      sending: markSending,
      opened: markOpened,
      events: streamEvents,
      relisted,
      closed: (state, _input, moment, config) => streamClosed(state, moment, config),
      failed: onFailed,
      paused: (state, input, moment, config) => aborting(pause<T>(state, input, moment), config),
    },
    watching: {
      ...deaf,
      queued: markQueued,
      sending: markSending,
      opened: (state, _input, moment) => [
        { ...healthy(state, moment), staleSinceMs: undefined },
        [],
      ],
      events: watchEvents,
      relisted,
      closed: (state, _input, moment, config) => {
        const livedMs = moment.nowMs - state.requestedMs;
        // Less than nothing is no short life: the clock was set back in between.
        if (livedMs >= 0 && livedMs < VERY_SHORT_MS)
          return shortWatch(state, livedMs, moment, config);
        const lived = { ...state, fruitless: 0, reconnects: state.reconnects + 1 };
        return endedEarly<T>(lived, moment) ?? watch(lived, moment, config);
      },
      failed: onFailed,
      paused: pause,
      renew,
      renewed,
      'renewal-failed': renewalFailed,
      refresh: refreshWatching,
    },
    paused: {
      ...deaf,
      resumed: (state, _input, moment, config) => goOnAfterPause<T>(state, moment, config),
      refresh: noteRefresh,
    },
    backoff: {
      ...deaf,
      elapsed: (state, _input, moment, config) => goOn<T>(state, moment, config),
      refresh: refreshWaiting,
    },
    stopped: deaf,
  };
}

/** The first step: the collection as a whole. */
export function startReflector<T>(
  state: ReflectorState,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  return relist(state, moment, config);
}

/** What becomes of a step after a failure, when the user wants no further try. */
export function stopReflector<T>([state, effects]: Next<T>, moment: Moment): Next<T> {
  const { nowMs } = moment;
  const stopped: ReflectorState = {
    ...state,
    phase: 'stopped',
    sinceMs: nowMs,
    nextRetryAtMs: undefined,
  };
  const told = effects.filter(({ type }) => type === 'emit' || type === 'refreshed');
  return [stopped, [...told, { type: 'complete' }]];
}

/** `next(state, input)` of the machine. Pure: time and chance come with the input. */
export function nextReflector<T>(
  table: ReflectorTable<T>,
  state: ReflectorState,
  input: ReflectorInput<T>,
  moment: Moment,
  config: ReflectorConfig,
): Next<T> {
  // The table's type ties each input to its rule; TypeScript cannot follow that through an index.
  const rule = table[state.phase][input.type] as Rule<T, ReflectorInput<T>>;
  const step = refreshAnswered(rule(state, input, moment, config), moment, config);
  return scheduleRenewal(state, step, moment, config);
}
