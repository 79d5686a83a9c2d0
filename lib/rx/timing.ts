/**
 * Where time and chance come from. Every stage that waits takes both, so that a `TestScheduler` drives the
 * whole pipe, jitter included.
 */
import { asyncScheduler, type SchedulerLike } from 'rxjs';

/** The clock and the dice of a stage. */
export interface Timing {
  /** @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
  /** A number in [0, 1). @defaultValue `Math.random` */
  readonly random?: (() => number) | undefined;
}

/** {@link Timing} with its defaults filled in. */
export interface ResolvedTiming {
  readonly scheduler: SchedulerLike;
  readonly random: () => number;
}

/** The options with their defaults filled in. */
export function timingOf(options: Timing): ResolvedTiming {
  return { scheduler: options.scheduler ?? asyncScheduler, random: options.random ?? Math.random };
}
