/** The type of points in time, so that a reader tells them from durations, which are plain numbers. */

declare const epoch: unique symbol;

/**
 * A point in time, in milliseconds since the Unix epoch, of the clock of a scheduler: `Date.now()` unless a test gives
 * another scheduler.
 *
 * Any number is accepted as a point in time, and a point in time is a number, so `Date.now() - status.sinceMs` is a
 * duration and `new Date(status.sinceMs)` a date.
 *
 * @example
 * ```ts
 * import type { EpochMs } from 'rx-informer';
 *
 * const sinceMs: EpochMs = Date.now();
 * const ageMs = Date.now() - sinceMs;
 * ageMs < 1_000; // => true
 * ```
 */
export type EpochMs = number & { readonly [epoch]?: true };
