/**
 * What is known of whether events of a server come when they are sent, or are held back until a response ends, as a proxy
 * with buffers does. Pure: moments come with the inputs.
 *
 * A server writes whole lines. Where a watch comes to rest at the end of a line, nothing of it was held back; where it
 * rests within a line, the rest of that line waits somewhere. A watch that says nothing at all proves neither: then a
 * probe, a watch of a few seconds, shows whether its events come before its end.
 */

/** What came of a probe; `none`: it showed nothing. */
export type Verdict = 'prompt' | 'held' | 'none';

/** What is known of one server. `Ms` without `At` are of a stopwatch. */
export interface Promptness {
  /** Since when it is known that events are held back, of the clock. */
  readonly heldSinceAtMs: number | undefined;
  /** While they are: how often in a row a watch came to rest at the end of a line. */
  readonly rests: number;
  /** When events were last seen to come promptly. */
  readonly provedMs: number | undefined;
  readonly probing: boolean;
  /** No probe before this. */
  readonly nextProbeMs: number;
  /** Probes in a row that showed nothing. */
  readonly fruitless: number;
}

/** What can happen. */
export type PromptnessInput =
  /** Nothing came on a watch for {@link REST_MS}. */
  | { readonly type: 'rest'; readonly endsLine: boolean }
  | { readonly type: 'probe' }
  /** Without a verdict: it was given up. */
  | { readonly type: 'probed'; readonly verdict?: Verdict };

/** So long nothing comes when a watch has come to rest. */
export const REST_MS = 300;
/** Where it does not rest because much happens, chunks that for so long all end at the end of a line are as good. */
const STEADY_MS = 1_000;
/** One probe a minute at most. */
const PROBE_PERIOD_MS = 60_000;
/** After probes that show nothing the next one waits so many times as long at most. */
const MOST_PERIODS = 16;
/** By chance, once in hundreds, a part of a body that was let go ends at the end of a line; so one rest heals nothing. */
const RESTS_THAT_HEAL = 2;

/** How long a watch may be silent before that is looked into, in milliseconds. */
const PATIENCE_MS = {
  /** It was not answered, or stopped in a line. */
  odd: { first: 5_000, proved: 15_000 },
  /** Nothing happened, perhaps. A server that was prompt before sends a bookmark within a minute, which proves it anew. */
  quiet: { first: 20_000, proved: 65_000 },
};

/** Told of each chunk of a watch; answers whether it and those before it are as good as a rest at the end of a line. */
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

/** In the beginning nothing is known. */
export const unknownPromptness: Promptness = {
  heldSinceAtMs: undefined,
  rests: 0,
  provedMs: undefined,
  probing: false,
  nextProbeMs: 0,
  fruitless: 0,
};

function prompt(state: Promptness, passedMs: number): Promptness {
  return { ...state, heldSinceAtMs: undefined, rests: 0, provedMs: passedMs };
}

/** What follows. */
export function nextPromptness(
  state: Promptness,
  input: PromptnessInput,
  { passedMs, nowMs }: { readonly passedMs: number; readonly nowMs: number },
): Promptness {
  switch (input.type) {
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

/** Whether a watch that began then needs no looking after: it, or a later one, was prompt. */
export function isProved(state: Promptness, beganMs: number): boolean {
  return state.provedMs !== undefined && state.provedMs >= beganMs;
}

/** How long a watch may be silent before a probe is sent. */
export function patienceMs(state: Promptness, isOdd: boolean): number {
  const { first, proved } = PATIENCE_MS[isOdd ? 'odd' : 'quiet'];
  return state.provedMs === undefined ? first : proved;
}
