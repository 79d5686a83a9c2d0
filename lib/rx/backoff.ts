/**
 * How long to wait before the next try. client-go: tools/cache/reflector.go waits 800 ms, doubled up to 30 s,
 * with as much again at random.
 */

import { checkedNumber } from './checked-option.ts';
import { reportUnhandled } from './report-unhandled.ts';

/** The wait before try number `attempt` (0 is the first retry), in milliseconds; `random` is in [0, 1). */
export type Backoff = (attempt: number, random: number) => number;

/**
 * Doubles from `baseMs` to `capMs`, then adds up to `jitter` times the wait. Throws a `TypeError` if a number is
 * negative or infinite.
 *
 * @example
 * ```ts
 * import { exponentialBackoff } from 'rx-informer';
 *
 * const backoff = exponentialBackoff();
 * backoff(0, 0); // => 800
 * backoff(3, 0.5); // => 9600
 * backoff(1000, 0); // => 30000
 * ```
 */
export function exponentialBackoff(
  options: {
    /** The first wait, in milliseconds. @defaultValue 800 */
    readonly baseMs?: number | undefined;
    /** @defaultValue 2 */
    readonly factor?: number | undefined;
    /** The longest wait before the jitter, in milliseconds. @defaultValue 30000 */
    readonly capMs?: number | undefined;
    /** @defaultValue 1 */
    readonly jitter?: number | undefined;
  } = {},
): Backoff {
  const { baseMs = 800, factor = 2, capMs = 30_000, jitter = 1 } = options;
  for (const [name, value] of Object.entries({ baseMs, factor, capMs, jitter })) {
    checkedNumber(value, `exponentialBackoff: ${name}`);
  }
  return (attempt, random) => {
    // The exponent is bounded first: factor ** 1100 is Infinity, and Infinity × 0 no number.
    const wait = Math.min(capMs, baseMs * factor ** Math.min(attempt, 64));
    return Math.round(wait * (1 + jitter * random));
  };
}

/** A backoff of somebody who may fail: one that throws, or answers no time, is reported and counts as the default. */
export function reliableBackoff(backoff: Backoff): Backoff {
  const fallback = exponentialBackoff();
  return (attempt, random) => {
    try {
      const delayMs = backoff(attempt, random);
      if (delayMs >= 0) return delayMs;
      throw new TypeError(`the backoff returned ${delayMs}; it must be 0 or more milliseconds`);
    } catch (error) {
      reportUnhandled(error);
      return fallback(attempt, random);
    }
  };
}
