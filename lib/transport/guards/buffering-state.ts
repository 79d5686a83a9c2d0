/**
 * The pure state behind the detection of buffering proxies: whether a server's events arrive when they are sent, or
 * only when the response ends. Moments are part of the inputs.
 *
 * A server writes complete lines. If a watch pauses at the end of a line, nothing was held back. If it pauses within
 * a line, the rest of that line is held somewhere. A silent watch proves neither, so a probe, which is a watch of a
 * few seconds, shows whether its events arrive before its end.
 */

/** The result of a probe. `none`: the probe proved nothing. */
export type Verdict = 'prompt' | 'held' | 'none';

/**
 * The findings about one server. Fields named `…AtMs` are moments of the scheduler's clock; other `…Ms` fields are
 * readings of a stopwatch. All are in milliseconds.
 */
export interface Promptness {
  /** Since when events are known to be held back. */
  readonly heldSinceAtMs: number | undefined;
  /** While events are held back: how often in a row a watch has paused at the end of a line. */
  readonly rests: number;
  /** When events were last proved to be prompt. */
  readonly provedMs: number | undefined;
  /** Whether the latest answered watch or probe was compressed. */
  readonly compressed: boolean;
  readonly probing: boolean;
  /** The earliest time of the next probe. */
  readonly nextProbeMs: number;
  /** How many probes in a row proved nothing. */
  readonly fruitless: number;
}

/** An observation of a watch or of a probe. */
export type PromptnessInput =
  /** A watch, which lists nothing, or a probe was answered. */
  | { readonly type: 'answered'; readonly compressed: boolean }
  /** A watch received nothing for {@link REST_MS}. */
  | { readonly type: 'rest'; readonly endsLine: boolean }
  | { readonly type: 'probe' }
  /** The verdict is missing if the probe was aborted. */
  | { readonly type: 'probed'; readonly verdict?: Verdict | undefined };

/** How long a watch must receive nothing to count as pausing, in milliseconds. */
export const REST_MS = 300;
/**
 * If events are too frequent for a pause, chunks that all end at the end of a line for this time, in milliseconds,
 * count as a pause.
 */
const STEADY_MS = 1_000;
/** The shortest time between two probes, in milliseconds. */
const PROBE_PERIOD_MS = 60_000;
/** The longest wait after probes that prove nothing, in probe periods. */
const MOST_PERIODS = 16;
/**
 * One pause is not enough, because about once in several hundred times a released part of a body ends at the end of a
 * line by chance.
 */
const RESTS_THAT_HEAL = 2;

/** How long a watch may be silent before a probe is sent, in milliseconds. */
const PATIENCE_MS = {
  /** The watch was not answered, or paused within a line. */
  odd: { first: 5_000, proved: 15_000 },
  /** Perhaps nothing changed. A prompt server sends a bookmark within a minute, which proves promptness again. */
  quiet: { first: 20_000, proved: 65_000 },
};

/**
 * Returns a function to call for each chunk of a watch. It returns whether this chunk and those before it count as a
 * pause at the end of a line.
 */
export function steadiness(): (endsLine: boolean, passedMs: number) => boolean {
  let sinceMs: number | undefined;
  return (endsLine, passedMs) => {
    if (!endsLine) sinceMs = undefined;
    else sinceMs ??= passedMs;
    if (sinceMs === undefined || passedMs - sinceMs < STEADY_MS) return false;
    sinceMs = passedMs;
    return true;
  };
}

/** The initial state. */
export const unknownPromptness: Promptness = {
  heldSinceAtMs: undefined,
  rests: 0,
  provedMs: undefined,
  compressed: false,
  probing: false,
  nextProbeMs: 0,
  fruitless: 0,
};

function prompt(state: Promptness, passedMs: number): Promptness {
  return { ...state, heldSinceAtMs: undefined, rests: 0, provedMs: passedMs };
}

/** Returns the next state. */
export function nextPromptness(
  state: Promptness,
  input: PromptnessInput,
  { passedMs, nowMs }: { readonly passedMs: number; readonly nowMs: number },
): Promptness {
  switch (input.type) {
    case 'answered': {
      const { compressed } = input;
      // What arrived uncompressed does not prove that a compressor flushes.
      const isNew = compressed && !state.compressed;
      return { ...state, compressed, provedMs: isNew ? undefined : state.provedMs };
    }
    case 'rest': {
      if (!input.endsLine) return { ...state, rests: 0 };
      const rests = state.rests + 1;
      const heals = state.heldSinceAtMs === undefined || rests >= RESTS_THAT_HEAL;
      return heals ? prompt(state, passedMs) : { ...state, rests };
    }
    case 'probe':
      return { ...state, probing: true, nextProbeMs: passedMs + PROBE_PERIOD_MS };
    case 'probed': {
      if (input.verdict === undefined) return { ...state, probing: false };
      const probed = { ...state, probing: false, fruitless: 0 };
      if (input.verdict === 'prompt') return prompt(probed, passedMs);
      if (input.verdict === 'held') return { ...probed, heldSinceAtMs: nowMs, rests: 0 };
      const periods = Math.min(2 ** state.fruitless, MOST_PERIODS);
      const nextProbeMs = passedMs + periods * PROBE_PERIOD_MS;
      return { ...probed, fruitless: state.fruitless + 1, nextProbeMs };
    }
  }
}

/** Whether a watch that began at `beganMs` needs no observation, because it or a later one was prompt. */
export function isProved(state: Promptness, beganMs: number): boolean {
  return state.provedMs !== undefined && state.provedMs >= beganMs;
}

/**
 * How long a watch may be silent before a probe is sent, in milliseconds. A compressor that does not flush is likely, and
 * its watches look live, so it is probed immediately.
 */
export function patienceMs(state: Promptness, isOdd: boolean): number {
  const { first, proved } = PATIENCE_MS[isOdd ? 'odd' : 'quiet'];
  if (state.provedMs !== undefined) return proved;
  return state.compressed ? 0 : first;
}
