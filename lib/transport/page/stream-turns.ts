/**
 * The turns of streams (lists and watches) in a page, as a pure state machine. A browser over HTTP/1.1 has six
 * connections per origin, over all tabs, so only a few streams may be open, each in a *slot*. The others wait. Lists
 * are short and go first. While a stream waits, a watch that has had its fair share *yields*: it is ended, and waits
 * for its next turn. A watch that nobody uses yields first, and then waits until somebody uses it.
 */

/** In the order of precedence: a later page of a list, a list, a watch. */
export type StreamKind = 'page' | 'list' | 'watch';

/** A stream that waits or is open. */
export interface Stream {
  readonly id: number;
  readonly kind: StreamKind;
  /** `yielding`: it was told to yield and has not ended yet. */
  readonly state: 'waiting' | 'open' | 'yielding';
  /** When it began to wait, or when its share began; `undefined` until an open watch is answered. */
  readonly sinceMs: number | undefined;
  /** Whether nobody uses what it delivers. */
  readonly unused: boolean;
  /** Its slot; `undefined` while it waits, if there is no limit, and if the slot was lost. */
  readonly slot: object | undefined;
}

/** The state of the machine. Streams are in the order of their requests. */
export interface TurnState {
  readonly streams: readonly Stream[];
  /** Whether a slot was requested and not granted yet. */
  readonly acquiring: boolean;
  /** Whether somebody else, such as another tab, waits for a slot. */
  readonly contended: boolean;
  /** When a slot was last returned. */
  readonly freedMs: number;
}

export type TurnInput =
  | {
      readonly type: 'request';
      readonly id: number;
      readonly kind: StreamKind;
      readonly unused?: boolean;
    }
  /** Somebody begins to use what a stream delivers, or nobody uses it any more. */
  | { readonly type: 'use'; readonly id: number; readonly unused: boolean }
  /** The response of an open stream has begun. */
  | { readonly type: 'answered'; readonly id: number }
  /** A streaming list is complete and continues as a watch. */
  | { readonly type: 'listed'; readonly id: number }
  /** A stream cannot yield now. It is told again after another share. */
  | { readonly type: 'refused'; readonly id: number }
  /** A stream has ended or was unsubscribed, whether it waited or was open. */
  | { readonly type: 'end'; readonly id: number }
  | { readonly type: 'granted'; readonly slot: object }
  /** A slot was taken away. */
  | { readonly type: 'lost'; readonly slot: object }
  | { readonly type: 'contended'; readonly contended: boolean }
  /** A timer has fired, or the limit may have changed. */
  | { readonly type: 'tick' };

export type TurnEffect =
  | { readonly type: 'acquire' | 'cancel' }
  | { readonly type: 'release'; readonly slot: object }
  | { readonly type: 'send'; readonly id: number }
  /** End the stream; with `force` also if it has no good moment for that. */
  | { readonly type: 'yield'; readonly id: number; readonly force: boolean }
  /** Enter a `tick` after this delay, instead of an earlier request for one. */
  | { readonly type: 'tick-after'; readonly delayMs: number }
  /** Find out after this delay whether somebody else waits for a slot. */
  | { readonly type: 'look-after'; readonly delayMs: number };

/** The time of an input by a clock that never goes back, and how many streams may be open. */
export interface TurnMoment {
  readonly nowMs: number;
  readonly most: number;
}

/** The state before the first request. */
export function noStreams(): TurnState {
  const freedMs = Number.NEGATIVE_INFINITY;
  return { streams: [], acquiring: false, contended: false, freedMs };
}

/** All waiting watches should have had a turn within this time, in milliseconds. */
const ROUND_MS = 20_000;
/** The shortest and the longest share of a watch while others wait, in milliseconds. */
const SHORTEST_SHARE_MS = 2_000;
const LONGEST_SHARE_MS = 10_000;
/** The share of a watch while a list waits, and of one that nobody uses, in milliseconds. */
const LEAST_SHARE_MS = 1_000;
/** How long a free slot may take until it is granted, in milliseconds. Until then no further watch yields. */
const GRANT_MS = 250;
/** How often a page whose own streams do not wait looks whether somebody else waits, in milliseconds. */
const LOOK_MS = 3_000;

const PRECEDENCE: readonly StreamKind[] = ['page', 'list', 'watch'];

/** Whether a stream asks for a slot. A list that is used no more is still completed. */
function isUrgent({ state, kind, unused }: Stream): boolean {
  return state === 'waiting' && (!unused || kind === 'page');
}

/** The stream whose turn is next among those that ask. */
function first(streams: readonly Stream[], asks = isUrgent): Stream | undefined {
  for (const kind of PRECEDENCE) {
    const found = streams.find((each) => asks(each) && each.kind === kind);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Step = [TurnState, TurnEffect[]];

function change(state: TurnState, id: number, fields: Partial<Stream>): TurnState {
  const streams = state.streams.map((each) => (each.id === id ? { ...each, ...fields } : each));
  return { ...state, streams };
}

function sending(state: TurnState, id: number, slot?: object): Step {
  // The share of a watch begins with the response, because a slow server would otherwise leave nothing of it.
  const open = { state: 'open', sinceMs: undefined, slot } as const;
  return [change(state, id, open), [{ type: 'send', id }]];
}

/** Gives a free slot to the stream whose turn is next, or returns it. */
function given(state: TurnState, slot: object): Step {
  const next = first(state.streams);
  return next === undefined ? [state, [{ type: 'release', slot }]] : sending(state, next.id, slot);
}

function received(state: TurnState, input: TurnInput, { nowMs }: TurnMoment): Step {
  switch (input.type) {
    case 'request': {
      const { id, kind, unused = false } = input;
      const waits = { state: 'waiting', sinceMs: nowMs, slot: undefined } as const;
      const stream: Stream = { id, kind, unused, ...waits };
      return [{ ...state, streams: [...state.streams, stream] }, []];
    }
    case 'use': {
      const { id, unused } = input;
      const waits = state.streams.some((each) => each.id === id && each.state === 'waiting');
      // From now on it waits for a slot; before, it did not want one.
      return [change(state, id, waits ? { unused, sinceMs: nowMs } : { unused }), []];
    }
    case 'answered':
      return [change(state, input.id, { sinceMs: nowMs }), []];
    case 'listed':
      // The list has delivered what the stream was opened for, so its share as a watch is over.
      return [change(state, input.id, { kind: 'watch', sinceMs: Number.NEGATIVE_INFINITY }), []];
    case 'refused':
      return [change(state, input.id, { state: 'open', sinceMs: nowMs }), []];
    case 'end': {
      const ended = state.streams.find(({ id }) => id === input.id);
      const left = { ...state, streams: state.streams.filter((each) => each !== ended) };
      if (ended?.slot === undefined) return [left, []];
      // A list uses the slot directly. A watch does not, so that other tabs get their turns.
      const isList = first(left.streams)?.kind !== 'watch';
      if (isList) return given(left, ended.slot);
      return [{ ...left, freedMs: nowMs }, [{ type: 'release', slot: ended.slot }]];
    }
    case 'granted':
      return given({ ...state, acquiring: false }, input.slot);
    case 'lost': {
      const holder = state.streams.find(({ slot }) => slot === input.slot);
      if (holder === undefined) return [state, []];
      const { id } = holder;
      const lost = change(state, id, { slot: undefined, state: 'yielding' });
      return [lost, [{ type: 'yield', id, force: true }]];
    }
    case 'contended':
      return [{ ...state, contended: input.contended }, []];
    case 'tick':
      return [state, []];
  }
}

/** Sends everything, because all streams share one connection. */
function unlimited(state: TurnState): Step {
  const effects: TurnEffect[] = state.acquiring ? [{ type: 'cancel' }] : [];
  let next = { ...state, acquiring: false };
  for (;;) {
    const waiting = first(next.streams, ({ state }) => state === 'waiting');
    if (waiting === undefined) return [next, effects];
    const [sent, more] = sending(next, waiting.id);
    next = sent;
    effects.push(...more);
  }
}

/** Asks for a slot if a stream waits, and lets as many watches yield as streams wait. */
function sharing(state: TurnState, { nowMs }: TurnMoment): Step {
  const effects: TurnEffect[] = [];
  const next = first(state.streams);
  const waiting = state.streams.filter(isUrgent);
  const open = state.streams.filter((each) => each.state === 'open');
  if ((next !== undefined) !== state.acquiring) {
    effects.push({ type: next === undefined ? 'cancel' : 'acquire' });
  }
  let left: TurnState = { ...state, acquiring: next !== undefined };
  if (next === undefined && !state.contended) {
    if (open.length > 0) effects.push({ type: 'look-after', delayMs: LOOK_MS });
    return [left, effects];
  }
  const wanted = Math.max(1, waiting.length);
  const fairMs = (ROUND_MS * open.length) / wanted;
  const isList = next !== undefined && next.kind !== 'watch';
  const shareMs = isList
    ? LEAST_SHARE_MS
    : Math.min(LONGEST_SHARE_MS, Math.max(SHORTEST_SHARE_MS, fairMs));
  const grantedMs = Math.max(next?.sinceMs ?? state.freedMs, state.freedMs) + GRANT_MS;
  let need = wanted - state.streams.filter((each) => each.state === 'yielding').length;
  const due = open
    .filter(({ kind, sinceMs }) => kind === 'watch' && sinceMs !== undefined)
    .map(({ id, sinceMs = 0, unused }) => {
      const share = unused ? LEAST_SHARE_MS : shareMs;
      return { id, atMs: Math.max(sinceMs + share, grantedMs) };
    })
    .sort((a, b) => a.atMs - b.atMs);
  for (const { id, atMs } of due) {
    if (need-- <= 0) break;
    if (atMs > nowMs) {
      effects.push({ type: 'tick-after', delayMs: atMs - nowMs });
      break;
    }
    left = { ...change(left, id, { state: 'yielding' }), contended: false };
    effects.push({ type: 'yield', id, force: false });
  }
  return [left, effects];
}

/** Returns the next state and what is to be done. */
export function nextTurn(state: TurnState, input: TurnInput, moment: TurnMoment): Step {
  const [entered, effects] = received(state, input, moment);
  const settle = moment.most === Number.POSITIVE_INFINITY ? unlimited : sharing;
  const [next, more] = settle(entered, moment);
  return [next, [...effects, ...more]];
}
