/**
 * fast-check with the seed of the run: a change meets the same random values in each run, so that it is not refused because of
 * luck. Each night has other values (`RANDOM_SEED`).
 */
import * as fc from 'fast-check';

export const RANDOM_SEED = Number(process.env['RANDOM_SEED'] ?? 1);

fc.configureGlobal({ seed: RANDOM_SEED });

export * from 'fast-check';

/** A check whose failure is shrunk by this many tries at the most, for checks that take long. */
export function shrinking<A extends readonly unknown[]>(
  most: number,
  check: (...values: A) => Promise<void>,
): (...values: A) => Promise<void> {
  let left = Number.POSITIVE_INFINITY;
  return async (...values) => {
    if (left-- <= 0) return;
    try {
      await check(...values);
    } catch (error) {
      left = Math.min(left, most);
      throw error;
    }
  };
}
