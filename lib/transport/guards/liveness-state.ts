/**
 * The pure state machine behind the detection of a dead way to a server. If all streams of a client were silent for a
 * while, one ping is sent. Without an answer the watches are doubted, and later they are lost. Moments are part of
 * the inputs.
 */
import type { Step } from '../../rx/machine.ts';

/** The state of the way to one server. Times are readings of a stopwatch, in milliseconds. */
export interface Liveness {
  /**
   * `idle`: no watch is open. `listening`: the streams were heard lately. `asking`: a ping was sent. `doubting`: the
   * ping was not answered in time, and is still open.
   */
  readonly phase: 'idle' | 'listening' | 'asking' | 'doubting';
  /** The silence after which the next ping is sent. */
  readonly patienceMs: number;
  /** When the next tick is due, in the phase `listening`; otherwise when the last one was. */
  readonly beatMs: number;
  /** Whether the ping waits on the client's side. */
  readonly queued: boolean;
  /** How long the server has had to answer the ping. */
  readonly waitedMs: number;
  /** How long it may have before the watches are lost. */
  readonly limitMs: number;
}

/** An event of the client's watches or of the ping. */
export type LivenessInput =
  /** The first watch is open. */
  | { readonly type: 'opened' }
  /** No watch is open any more. */
  | { readonly type: 'closed' }
  /** Something has arrived from the server: bytes of a stream, or an answer to the ping. */
  | { readonly type: 'life' }
  | { readonly type: 'queued' | 'sending' }
  | { readonly type: 'failed'; readonly why: string }
  | { readonly type: 'tick' };

/** The moment of an input. */
export interface LivenessMoment {
  readonly nowMs: number;
  /** When something was last heard from the server. */
  readonly heardMs: number;
  /** In [0, 1). */
  readonly random: number;
  /** Whether a ping may be sent: not in a hidden tab, and not if it would wait for a connection. */
  readonly mayAsk: boolean;
}

/** The effects of the machine. */
export type LivenessEffect =
  /** Replaces the tick that is due. */
  | { readonly type: 'tick-after'; readonly delayMs: number }
  /** Send a ping; or abort it and cancel the tick, because neither is needed. */
  | { readonly type: 'ask' | 'rest' }
  /** Report that the open watches may be dead, or that they are not. */
  | { readonly type: 'doubt' | 'trust' }
  /** End the open watches, so that they are requested again. */
  | { readonly type: 'lose'; readonly why: string };

type Next = Step<Liveness, LivenessEffect>;

/** The part of the patience that is taken off at random, so that clients that began together ask apart. */
const JITTER = 0.2;
/** How long the server may take to answer a ping before the watches are doubted, in milliseconds. */
export const ANSWER_MS = 5_000;
/**
 * How long it may take before they are lost, in milliseconds, and how much is added at random. A slow server keeps its
 * watches, because requesting all of them again would make it slower.
 */
const LOST_MS = 10_000;
const LOST_SPREAD_MS = 5_000;
/** How often the wait for an answer is measured, in milliseconds. */
const BEAT_MS = 500;
/** A tick that is later than this, in milliseconds, comes from a blocked thread or a machine that slept. */
const LATE_MS = 1_500;

/** The initial state. */
export const idle: Liveness = {
  phase: 'idle',
  patienceMs: 0,
  beatMs: 0,
  queued: false,
  waitedMs: 0,
  limitMs: 0,
};
const REST = { type: 'rest' } as const;

function listen(
  livenessMs: number,
  { random, nowMs }: LivenessMoment,
  ...effects: LivenessEffect[]
): Next {
  const patienceMs = Math.round(livenessMs * (1 - JITTER * random));
  return [
    { ...idle, phase: 'listening', patienceMs, beatMs: nowMs + patienceMs },
    [...effects, { type: 'tick-after', delayMs: patienceMs }],
  ];
}

/** Checks for silence. A late tick is repeated, because what has arrived meanwhile was not read yet. */
function checkSilence(state: Liveness, { nowMs, heardMs, mayAsk, random }: LivenessMoment): Next {
  const leftMs = heardMs + state.patienceMs - nowMs;
  const isLate = nowMs - state.beatMs > LATE_MS;
  if (leftMs <= 0 && mayAsk && !isLate) {
    const limitMs = LOST_MS + LOST_SPREAD_MS * random;
    const asking: Liveness = { ...state, phase: 'asking', beatMs: nowMs, waitedMs: 0, limitMs };
    return [asking, [{ type: 'tick-after', delayMs: BEAT_MS }, { type: 'ask' }]];
  }
  const delayMs = leftMs > 0 ? leftMs : mayAsk ? BEAT_MS : state.patienceMs;
  return [{ ...state, beatMs: nowMs + delayMs }, [{ type: 'tick-after', delayMs }]];
}

function lose(why: string): Next {
  return [idle, [REST, { type: 'lose', why }]];
}

/** Measures how long the server has had to answer. */
function checkAnswer(state: Liveness, { nowMs }: LivenessMoment): Next {
  const gapMs = nowMs - state.beatMs;
  const waitedMs = state.waitedMs + (state.queued || gapMs > LATE_MS ? 0 : gapMs);
  if (waitedMs >= state.limitMs) return lose('the server answers no request');
  const doubts = state.phase === 'asking' && waitedMs >= ANSWER_MS;
  const phase = doubts ? 'doubting' : state.phase;
  const untilMs = (phase === 'asking' ? ANSWER_MS : state.limitMs) - waitedMs;
  const tick = { type: 'tick-after', delayMs: Math.min(BEAT_MS, untilMs) } as const;
  const effects: LivenessEffect[] = doubts ? [tick, { type: 'doubt' }] : [tick];
  return [{ ...state, phase, waitedMs, beatMs: nowMs }, effects];
}

/** Returns the next state and what is to be done. `livenessMs` is the longest silence without a ping. */
export function nextLiveness(
  state: Liveness,
  input: LivenessInput,
  moment: LivenessMoment,
  livenessMs: number,
): Next {
  const { phase } = state;
  if (input.type === 'opened') return phase === 'idle' ? listen(livenessMs, moment) : [state, []];
  if (phase === 'idle') return [state, []];
  if (input.type === 'closed') return [idle, [REST]];
  if (phase === 'listening') {
    return input.type === 'tick' ? checkSilence(state, moment) : [state, []];
  }
  switch (input.type) {
    case 'queued':
    case 'sending':
      // The time until now is not counted, because a part of it may have been a wait.
      return [{ ...state, queued: input.type === 'queued', beatMs: moment.nowMs }, []];
    case 'life':
      if (phase === 'asking') return listen(livenessMs, moment, REST);
      return listen(livenessMs, moment, REST, { type: 'trust' });
    case 'failed':
      return lose(input.why);
    case 'tick':
      return checkAnswer(state, moment);
  }
}
