/**
 * The transitions of the reflector's state machine: a table with the rules of each phase. The type of the table names the
 * inputs that each phase ignores, and so makes it total: an input that is neither handled nor ignored does not compile,
 * and neither does one that is both.
 */
import { ApiError } from '../meta/api-error.ts';
import { catchUp, heard, ticked } from './catch-up.ts';
import { ignoredRequest, readEvents, readStream } from './events.ts';
import { aborting, failed, shortWatch, streamClosed, VERY_SHORT_MS } from './failures.ts';
import {
  continued,
  emit,
  healthy,
  listed,
  relisted,
  replaced,
  replacing,
  rereadIfDoubted,
} from './lists.ts';
import {
  noteRefresh,
  refreshAnswered,
  refreshWaiting,
  refreshWatching,
  retryNow,
  sendDue,
} from './refresh.ts';
import { list, relist, resume, retryAfterLeftMs, stream, watch, watchAgain } from './requests.ts';
import {
  isLive,
  type Listing,
  type Memory,
  type Moment,
  type Next,
  type ReflectorInput,
  type ReflectorPhase,
  type ReflectorState,
  remember,
  type Streaming,
  type Watching,
} from './state.ts';
import { endedEarly, renew, renewalFailed, renewed, scheduleRenewal } from './watch-renewal.ts';

type Kind = ReflectorInput['kind'];
type InputOf<K extends Kind, Input = ReflectorInput> = Input extends { readonly kind: infer Own }
  ? K extends Own
    ? Input
    : never
  : never;
type StateOf<Phase extends ReflectorPhase> = Extract<ReflectorState, { phase: Phase }>;
type Rule<State, Input> = (state: State, input: Input, moment: Moment) => Next;

/** The inputs of a request. */
type OfRequest =
  | 'queued'
  | 'sending'
  | 'opened'
  | 'alive'
  | 'doubted'
  | 'part'
  | 'restart'
  | 'listed'
  | 'events'
  | 'closed'
  | 'failed'
  | 'yielded'
  | 'paused';
/** The inputs of the next watch, and of the timer of a watch. */
type OfNextWatch = 'renew' | 'renewed' | 'renewal-failed' | 'tick';
/** The inputs that end a wait. */
type OfWait = 'elapsed' | 'resumed';

/** The inputs that each phase ignores, for example late responses to a request that no longer matters. */
interface Ignored {
  listing: 'alive' | 'doubted' | 'events' | 'closed' | 'awake' | OfWait | OfNextWatch;
  streaming: 'doubted' | 'part' | 'restart' | 'awake' | OfWait | OfNextWatch;
  watching: 'part' | 'restart' | OfWait;
  paused: OfRequest | 'awake' | 'elapsed' | OfNextWatch;
  backoff: OfRequest | 'resumed' | OfNextWatch;
  stopped: OfRequest | 'awake' | 'refresh' | OfWait | OfNextWatch;
}

/** For each phase a rule for every input that it does not ignore, and no other. */
export type ReflectorTable = {
  readonly [Phase in ReflectorPhase]: {
    readonly [Type in Exclude<Kind, Ignored[Phase]>]: Rule<StateOf<Phase>, InputOf<Type>>;
  };
};

type Requested = Listing | Streaming | Watching;

/**
 * How long after its first event a streaming LIST may end, in milliseconds, and how much longer for each object. An
 * ordinary watch, which some servers send in its place, never has the end mark.
 */
const LIST_MS = 30_000;
const OBJECT_MS = 100;
/** The longest time, in milliseconds. A watch is not requested for less, so the server ends most lists later. */
const LONGEST_LIST_MS = 300_000;

const markQueued = (state: Requested, queued: InputOf<'queued'>): Next => [
  { ...state, queued },
  [],
];
const markSending = (state: Requested, _input: unknown, { nowMs }: Moment): Next => [
  { ...state, queued: undefined, requestedMs: nowMs },
  [],
];
const markOpened = (state: Requested): Next => [state, []];

function watchEvents(
  state: Watching,
  { events }: { readonly events: InputOf<'events'>['events'] },
  moment: Moment,
): Next {
  const { config } = moment;
  const { resourceVersion: seen, fruitless, silentLists, versionUnavailable } = state.memory;
  const { adopting: wasAdopting, repeats: toRepeat } = state;
  const from = { resourceVersion: seen, adopting: wasAdopting, repeats: toRepeat };
  const reading = readEvents(events, from, config.scope);
  const { resourceVersion, adopting, repeats, wentBack } = reading;
  const delivers = events.length > 0 && reading.error === undefined;
  const memory: Memory = {
    ...healthy(state.memory, moment),
    resourceVersion,
    fruitless: delivers ? 0 : fruitless,
    silentLists: delivers ? 0 : silentLists,
    versionUnavailable: wentBack || versionUnavailable,
  };
  const delivered = state.delivered || delivers;
  const read: Watching = { ...state, memory, adopting, repeats, delivered };
  const [live, ticks] = heard(read, events, moment);
  const commit = emit(reading.deltas);
  const error = wentBack ? otherHistory() : reading.error;
  if (error === undefined) return [live, [...commit, ...ticks]];
  const [next, effects] = failed(read, { error }, moment);
  return [next, [...commit, ...effects]];
}

function otherHistory(): ApiError {
  const message =
    'an event is older than a version already seen: events are out of order, or the server has another history now';
  return new ApiError({ code: 410, reason: 'Expired', message });
}

/** Something has arrived that is not the end of the list. If it comes too late, the server sends an ordinary watch. */
function streamAlive(state: Streaming, _input: unknown, moment: Moment): Next {
  const { requestedMs, beganMs = requestedMs + LIST_MS, added } = state;
  const grownMs = Math.min(LIST_MS + added * OBJECT_MS, LONGEST_LIST_MS);
  const limitMs = moment.config.initialList === 'stream' ? LONGEST_LIST_MS : grownMs;
  if (moment.nowMs - beganMs <= limitMs) return [state, []];
  return failed(state, { error: ignoredRequest() }, moment);
}

function streamEvents(state: Streaming, { events }: InputOf<'events'>, moment: Moment): Next {
  const { objects, keys, added, removed, refused, unparsed, end, error } = readStream(events);
  const reused = state.reused || unparsed;
  if (error !== undefined) return failed(state, { error }, moment);
  if (end === undefined) {
    const loaded = Math.max(0, state.loaded + objects.length - removed.length);
    const { nowMs } = moment;
    const beganMs = state.beganMs ?? nowMs;
    const partial = { ...state, loaded, reused, beganMs, added: state.added + added };
    const next = objects.length > 0 ? remember(partial, { blocked: undefined }) : partial;
    const part = replacing({ objects, keys, removed, refused }, moment);
    const [waiting, effects] = streamAlive(next, undefined, moment);
    return [waiting, [...part, ...effects]];
  }
  const { resourceVersion } = end;
  const again = rereadIfDoubted(state.memory, reused, resourceVersion, moment);
  if (again !== undefined) return again;
  const lastPart = replacing({ objects: [], removed, refused }, moment);
  const [memory, commit] = replaced(state.memory, { items: objects, resourceVersion }, moment);
  // The response has begun long ago, so the time since the request does not tell how slow the line is.
  const [watching, ticks] = catchUp(continued(state, memory, true), moment, 0);
  const [next, effects] = watchEvents(watching as Watching, { events: end.rest }, moment);
  return [next, [...lastPart, ...commit, ...ticks, ...effects]];
}

/** Requests the watch again: after a sleep its connection may be dead. A request that is new or waits is left alone. */
function watchAwake(state: Watching, _input: unknown, moment: Moment): Next {
  const isNew = Math.abs(moment.nowMs - state.requestedMs) < VERY_SHORT_MS;
  const waits = state.queued !== undefined || retryAfterLeftMs(state.memory, moment) > 0;
  return isNew || waits ? [state, []] : watchAgain(state.memory, moment);
}

function watchClosed(state: Watching, _input: unknown, moment: Moment): Next {
  const { memory } = state;
  const livedMs = moment.nowMs - state.requestedMs;
  // A negative time means that the clock was set back, not that the watch was short.
  if (livedMs >= 0 && livedMs < VERY_SHORT_MS) return shortWatch(memory, livedMs, moment);
  const lived = { ...memory, fruitless: 0, reconnects: memory.reconnects + 1 };
  return endedEarly(state, lived, moment) ?? resume(lived, moment);
}

/** The client ended the watch so that others have their turn. Its next request waits, so nothing is being connected. */
function watchYielded({ memory }: Watching, _input: unknown, moment: Moment): Next {
  const [state, effects] = resume(memory, moment);
  return [{ ...state, queued: {} } as Requested, effects];
}

/** Aborts the request until the demand opens. */
function pause({ phase, memory }: Requested): Next {
  const resume = phase === 'watching' ? 'watch' : 'relist';
  return [{ phase: 'paused', memory, resume }, [{ type: 'await-demand' }]];
}

const pauseList = (state: Requested, _input: unknown, moment: Moment): Next =>
  aborting(pause(state), moment);

/** What each phase does with the inputs that it does not ignore. */
export const reflectorTable: ReflectorTable = {
  listing: {
    queued: markQueued,
    sending: markSending,
    opened: markOpened,
    part: (state, { items, refused, unparsed, remaining }, moment) => {
      const loaded = state.loaded + items.length;
      const reused = state.reused || unparsed === true;
      const partial = { ...state, loaded, remaining, reused };
      const next = items.length > 0 ? remember(partial, { blocked: undefined }) : partial;
      return [next, replacing({ objects: items, refused }, moment)];
    },
    restart: (state, _input, moment) =>
      aborting([{ ...state, loaded: 0, remaining: undefined, reused: false }, []], moment),
    listed,
    failed,
    yielded: ({ memory }, _input, moment) => aborting(list(memory, moment), moment),
    paused: pauseList,
    refresh: noteRefresh,
  },
  streaming: {
    queued: markQueued,
    sending: markSending,
    opened: markOpened,
    alive: streamAlive,
    events: streamEvents,
    listed: relisted,
    closed: streamClosed,
    failed,
    yielded: ({ memory }, _input, moment) => aborting(stream(memory, moment), moment),
    paused: pauseList,
    refresh: noteRefresh,
  },
  watching: {
    queued: markQueued,
    sending: markSending,
    opened: (state, _input, moment) =>
      catchUp(remember(state, healthy(state.memory, moment)), moment),
    alive: (state, _input, moment) => (state.tickMs === 0 ? [state, []] : heard(state, [], moment)),
    tick: ticked,
    doubted: (state, { silentMs, error = state.memory.error }, { nowMs }) => {
      const staleSinceMs = state.memory.staleSinceMs ?? nowMs - (silentMs || 0);
      return [{ ...remember(state, { staleSinceMs, error }), tickMs: 0 }, []];
    },
    events: watchEvents,
    listed: relisted,
    closed: watchClosed,
    failed,
    yielded: watchYielded,
    awake: watchAwake,
    paused: pause,
    renew,
    renewed,
    'renewal-failed': renewalFailed,
    refresh: refreshWatching,
  },
  paused: { resumed: retryNow, refresh: noteRefresh },
  backoff: { elapsed: sendDue, awake: retryNow, refresh: refreshWaiting },
  stopped: {},
};

/** The first step: lists the complete collection, or watches from a version that is known already. */
export function startReflector(memory: Memory, moment: Moment): Next {
  return (memory.synced ? watch : relist)(memory, moment);
}

/** Replaces the step after a failure if `onError` returned 'stop': emits what is pending and completes. */
export function stopReflector([{ memory }, effects]: Next, { nowMs }: Moment): Next {
  const reports = effects.filter(({ type }) => type === 'emit' || type === 'refreshed');
  const stopped = { phase: 'stopped', memory: { ...memory, sinceMs: nowMs } } as const;
  return [stopped, [...reports, { type: 'complete' }]];
}

/** Whether the input shows that the request was answered. */
function isAnswer({ kind }: ReflectorInput): boolean {
  return kind === 'opened' || kind === 'events' || kind === 'part' || kind === 'listed';
}

function withAnswer(state: ReflectorState): ReflectorState {
  const isKnown = !('opened' in state) || (state.opened && state.queued === undefined);
  return isKnown ? state : { ...state, queued: undefined, opened: true };
}

/** The transition function of the machine. It is pure, because `moment` passes the time and the random number in. */
export function nextReflector(state: ReflectorState, input: ReflectorInput, moment: Moment): Next {
  // The type of the table ties each input to its rule, but TypeScript loses that tie in an indexed access.
  const rules: { readonly [Type in Kind]?: unknown } = reflectorTable[state.phase];
  const rule = rules[input.kind] as Rule<ReflectorState, ReflectorInput> | undefined;
  if (rule === undefined) return [state, []];
  const answered = isAnswer(input) ? withAnswer(state) : state;
  const step = refreshAnswered(rule(answered, input, moment), moment);
  const [next, effects] = scheduleRenewal(state, step, moment);
  const { sinceMs, staleSinceMs } = next.memory;
  const isNew = next.phase !== state.phase;
  const becomesStale = staleSinceMs === undefined && !isLive(next);
  if (!isNew && !becomesStale) return [next, effects];
  const { nowMs, silentMs } = moment;
  // The watch may have been dead since the server was last heard.
  const mayBeLate = input.kind === 'awake' || next.memory.error?.reason === 'Silent';
  const times = {
    sinceMs: isNew ? nowMs : sinceMs,
    // Without an answered watch the reflector receives no changes.
    staleSinceMs: becomesStale ? nowMs - (mayBeLate ? silentMs : 0) : staleSinceMs,
  };
  return [remember(next, times), effects];
}
