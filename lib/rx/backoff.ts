/**
 * Exponential backoff with jitter: the wait before a retry. client-go: tools/cache/reflector.go waits 800 ms, doubled
 * up to 30 s, plus up to the same time at random.
 */

import { checkedDuration, checkedNumber } from '../checks/checked-option.ts';
import { reportUnhandled } from './report-unhandled.ts';

/** Returns the wait before a retry, in milliseconds. `attempt` is 0 for the first retry; `random` is in [0, 1). */
export type Backoff = (attempt: number, random: number) => number;

/**
 * Doubles the wait from `baseMs` to `capMs`, then adds up to `jitter` times the wait. Throws a `TypeError` if a
 * number is negative or infinite.
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
    /** The wait before the first retry, in milliseconds. @defaultValue 800 */
    readonly baseMs?: number | undefined;
    /** The factor by which each wait grows. @defaultValue 2 */
    readonly factor?: number | undefined;
    /** The longest wait before jitter is added, in milliseconds. @defaultValue 30000 */
    readonly capMs?: number | undefined;
    /** The largest part of the wait that is added at random. @defaultValue 1 */
    readonly jitter?: number | undefined;
  } = {},
): Backoff {
  const { baseMs = 800, factor = 2, capMs = 30_000, jitter = 1 } = options;
  for (const [name, value] of Object.entries({ baseMs, factor, capMs, jitter })) {
    checkedNumber(value, `exponentialBackoff: ${name}`);
  }
  return (attempt, random) => {
    // The exponent is limited first, because factor ** 1100 is Infinity and Infinity × 0 is NaN.
    const wait = Math.min(capMs, baseMs * factor ** Math.min(attempt, 64));
    return Math.round(wait * (1 + jitter * random));
  };
}

/**
 * Guards a user's backoff. If the backoff throws or returns an invalid wait, the error is reported and the default is
 * used.
 */
export function reliableBackoff(
  backoff: Backoff,
  report: (error: unknown) => void = reportUnhandled,
): Backoff {
  const fallback = exponentialBackoff();
  return (attempt, random) => {
    try {
      return checkedDuration(backoff(attempt, random), 'what the backoff returned');
    } catch (error) {
      report(error);
      return fallback(attempt, random);
    }
  };
}
