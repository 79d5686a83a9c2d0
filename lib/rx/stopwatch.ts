/**
 * Measures durations. A scheduler's `now()` is a wall clock, which NTP, a user or the host of a virtual machine may
 * set, also back, so the difference of two readings is not a duration.
 */
import { asyncScheduler, type SchedulerLike } from 'rxjs';

/** How much the readings of two system clocks may differ without either having been set, in milliseconds. */
const TOLERANCE_MS = 1_000;

/**
 * Whether the monotonic clock of the system (`performance.now`) measures the time of the scheduler. It is never set, but may stand
 * still while the machine sleeps.
 */
function isSteady(scheduler: SchedulerLike): boolean {
  if (scheduler.now !== asyncScheduler.now) return false;
  // Inside `TestScheduler.run`, rxjs's own schedulers show virtual time, and the monotonic clock does not apply.
  // biome-ignore lint/style/noRestrictedGlobals: compares the clock, reads no time
  return Math.abs(Date.now() - scheduler.now()) <= TOLERANCE_MS;
}

/**
 * Starts a stopwatch and returns its reader, which returns the elapsed time in whole milliseconds. The reading never
 * decreases. A forward jump of the clock counts within a millisecond, because a machine that slept looks the same.
 *
 * If the scheduler reads the system clock, setting that clock back loses no time. For any other scheduler only
 * forward movement can be measured, so a step back loses the time since the last reading.
 */
export function stopwatch(scheduler: SchedulerLike): () => number {
  if (!isSteady(scheduler)) {
    let shownMs = scheduler.now();
    let passedMs = 0;
    return () => {
      const nowMs = scheduler.now();
      passedMs += Math.max(0, nowMs - shownMs);
      shownMs = nowMs;
      return passedMs;
    };
  }
  const startMs = performance.now();
  // The largest lead of the wall clock over the monotonic one. A new maximum is a sleep, or a clock that was set
  // forward.
  let aheadMs = scheduler.now() - startMs;
  let sleptMs = 0;
  let checkedMs = startMs;
  return () => {
    const nowMs = performance.now();
    // The reading is in whole milliseconds, and the wall clock takes as long to read as the monotonic one.
    if (nowMs - checkedMs < 1) return Math.floor(nowMs - startMs + sleptMs);
    checkedMs = nowMs;
    const gapMs = scheduler.now() - nowMs;
    if (gapMs > aheadMs) {
      sleptMs += gapMs - aheadMs;
      aheadMs = gapMs;
    } else if (aheadMs - gapMs > TOLERANCE_MS) {
      aheadMs = gapMs;
    }
    return Math.floor(nowMs - startMs + sleptMs);
  };
}
