/** Measures contestants in turns: each takes all batches of changes, a few in a turn, and the order of turns rotates. */
import { isDeepStrictEqual } from 'node:util';

/** One way to keep an answer up to date. */
export interface Contestant<C> {
  readonly name: string;
  /** Takes a batch of changes and reads the answer, which is what is timed. */
  batch(changes: readonly C[]): void;
  /** The answer, in a form that can be compared with the expected one. Not timed. */
  answer(): unknown;
}

/** How long the batches of a contestant took, in milliseconds. */
export interface Timing {
  readonly name: string;
  readonly batches: number;
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface Turns<C> {
  /** Makes the next batch of changes. */
  readonly changes: () => readonly C[];
  /** The answer computed from the present objects. */
  readonly expected: () => unknown;
  readonly contestants: readonly Contestant<C>[];
  /** How many batches are measured. */
  readonly batches: number;
  /** Batches before the measured ones, which compile the code. */
  readonly warmUp: number;
}

/**
 * How many batches a contestant takes in one turn. With one, a contestant would be measured with the caches of the
 * processor full of what the slowest of the others has read.
 */
const BATCHES_A_TURN = 5;

/** How often the answers are compared with the expected one. */
const CHECKS = 8;

export function timing(name: string, times: readonly number[]): Timing {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (place: number) => sorted[place] ?? Number.NaN;
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2;
  return { name, batches: times.length, median, min: at(0), max: at(sorted.length - 1) };
}

export function inTurns<C>(turns: Turns<C>): Timing[] {
  const { changes, expected, contestants, warmUp } = turns;
  const times = contestants.map((): number[] => []);
  const before = Math.ceil(warmUp / BATCHES_A_TURN);
  const rounds = Math.ceil(turns.batches / BATCHES_A_TURN);
  const checkEvery = Math.max(1, Math.floor(rounds / CHECKS));
  for (let round = -before; round < rounds; round++) {
    const batches = Array.from({ length: BATCHES_A_TURN }, changes);
    for (let turn = 0; turn < contestants.length; turn++) {
      const at = (turn + round + before) % contestants.length;
      const contestant = contestants[at] as Contestant<C>;
      for (const batch of batches) {
        const start = performance.now();
        contestant.batch(batch);
        const took = performance.now() - start;
        if (round >= 0) times[at]?.push(took);
      }
    }
    if (round !== rounds - 1 && (round < 0 || round % checkEvery !== 0)) continue;
    const wanted = expected();
    for (const { name, answer } of contestants) {
      if (!isDeepStrictEqual(answer(), wanted)) {
        throw new Error(`the answer of ${name} in round ${round} is wrong`);
      }
    }
  }
  return contestants.map(({ name }, at) => timing(name, times[at] ?? []));
}
