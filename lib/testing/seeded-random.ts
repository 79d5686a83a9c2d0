/** A seeded random number generator, so that random tests can be repeated. */

/**
 * Returns a generator of numbers in [0, 1) that repeats its sequence for the same seed. Not for secrets.
 *
 * @example
 * ```ts
 * import { seededRandom } from 'rx-informer/testing';
 *
 * const [a, b] = [seededRandom(7), seededRandom(7)];
 * a() === b(); // => true
 * ```
 */
export function seededRandom(seed: number): () => number {
  // mulberry32
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
