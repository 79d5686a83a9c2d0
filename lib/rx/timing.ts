/**
 * The sources of time and randomness. Every stage that waits takes both as options, so that a `TestScheduler` drives
 * the complete pipe, jitter included.
 */
import { asyncScheduler, type SchedulerLike } from 'rxjs';

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

/** Fills in the defaults of {@link Timing}. */
export function timingOf(options: Timing): ResolvedTiming {
  return { scheduler: options.scheduler ?? asyncScheduler, random: options.random ?? Math.random };
}
