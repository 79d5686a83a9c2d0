/**
 * The sources of time and randomness. Every stage that waits takes both as options, so that a `TestScheduler` drives
 * the complete pipe, jitter included.
 */

import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { check } from '../checks/checked-option.ts';
import { reportUnhandled } from './report-unhandled.ts';

/** The scheduler and the random source of a stage. */
export interface Timing {
  /** @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
  /** Returns a number in [0, 1). @defaultValue `Math.random` */
  readonly random?: (() => number) | undefined;
}

/** {@link Timing} with its defaults filled in. */
export interface ResolvedTiming {
  readonly scheduler: SchedulerLike;
  readonly random: () => number;
}

/** Fills in the defaults of {@link Timing}. `report` receives what `random` throws, and that it returned no such number. */
export function timingOf(
  options: Timing,
  report: (error: unknown) => void = reportUnhandled,
): ResolvedTiming {
  const { scheduler = asyncScheduler, random } = options;
  return { scheduler, random: random === undefined ? Math.random : reliably(random, report) };
}

/** Without a wait requests would follow each other without a pause, or never. */
function reliably(random: () => number, report: (error: unknown) => void): () => number {
  return () => {
    try {
      const chance = random();
      const isChance = typeof chance === 'number' && chance >= 0 && chance <= 1;
      check(isChance, 'what random returned', chance, 'a number in [0, 1)');
      return chance;
    } catch (error) {
      report(error);
      return Math.random();
    }
  };
}

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
