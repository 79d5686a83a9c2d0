/** Detects code that runs within rxjs's `TestScheduler.run`, as in `marbles()`, and fails the test there. */
import { asyncScheduler } from 'rxjs';

/** The maximum difference between two consecutive readings of the system's clock, in milliseconds. */
const TOLERANCE_MS = 1_000;

/** Within `TestScheduler.run` the schedulers of rxjs show virtual time, which starts at 0. */
export function isVirtualTime(): boolean {
  return Math.abs(Date.now() - asyncScheduler.now()) > TOLERANCE_MS;
}

/**
 * Ends the marble test in progress with this error. The scheduler throws the error, because the code under test may
 * handle errors itself: an informer treats any error of a request as a failed connection, and retries.
 */
export function failMarbles(error: Error): void {
  // Within `TestScheduler.run` this action runs in virtual time, and `run` rethrows its error.
  asyncScheduler.schedule(() => {
    throw error;
  });
}
