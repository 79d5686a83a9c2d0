/**
 * How long something takes. A scheduler's `now()` is a clock on the wall: NTP, a person and the host of a virtual
 * machine set it, back as well, so the difference of two readings is no duration.
 */
import { asyncScheduler, type SchedulerLike } from 'rxjs';

/** By so much may two readings of the system's clocks disagree without one of them having been set. */
const TOLERANCE_MS = 1_000;

/** The system's other clock, which nobody sets but which may stand while the machine sleeps. */
function steadyOf(scheduler: SchedulerLike): (() => number) | undefined {
  if (scheduler.now !== asyncScheduler.now) return undefined;
  // In `TestScheduler.run` rxjs's own schedulers show virtual time: then no other clock belongs to them.
  // biome-ignore lint/style/noRestrictedGlobals: compares the clock, reads no time
  if (Math.abs(Date.now() - scheduler.now()) > TOLERANCE_MS) return undefined;
  return () => performance.now();
}

/**
 * Starts one. It answers how many whole milliseconds have passed since it was made: never fewer than before, whatever
 * the clock was set to. A clock that jumps ahead counts, because that is how a machine's sleep looks.
 *
 * Where the scheduler reads the clock of the system nothing is lost when that is set back. Of any other scheduler's clock
 * only the way ahead is known, so that a step back costs the time since the last look.
 */
export function stopwatch(scheduler: SchedulerLike): () => number {
  const steady = steadyOf(scheduler);
  if (steady === undefined) {
    let shownMs = scheduler.now();
    let passedMs = 0;
    return () => {
      const nowMs = scheduler.now();
      passedMs += Math.max(0, nowMs - shownMs);
      shownMs = nowMs;
      return passedMs;
    };
  }
  const startMs = steady();
  // How far the clock is ahead of the steady one, at the most: a new maximum is a sleep, or a clock set ahead.
  let aheadMs = scheduler.now() - startMs;
  let sleptMs = 0;
  return () => {
    const nowMs = steady();
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
