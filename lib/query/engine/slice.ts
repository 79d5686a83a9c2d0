/**
 * The slices of time that answers are computed in. A computation that is caused by another one continues its slice, so
 * that the operators of a pipe together take no longer.
 */
import type { SchedulerLike } from 'rxjs';
import { type Demand, timeSlice } from '../../rx/demand.ts';

/** How long a slice takes, in milliseconds. */
const SLICE_MS = 8;

/** How many rows a step of a computation takes. The clock is read between steps. */
export const ROWS_A_STEP = 64;

interface RunningSlice {
  readonly slice: Demand;
  readonly scheduler: SchedulerLike;
}

let running: RunningSlice | undefined;

/** The slice of the computation that runs now, or a new one. */
export function sliceOn(scheduler: SchedulerLike): Demand {
  if (running?.scheduler === scheduler) return running.slice;
  return timeSlice({ budgetMs: SLICE_MS, scheduler });
}

/** Runs a part of a computation, and what it causes synchronously. */
export function withinSlice(slice: Demand, scheduler: SchedulerLike, part: () => void): void {
  const outer = running;
  running = { slice, scheduler };
  try {
    part();
  } finally {
    running = outer;
  }
}
