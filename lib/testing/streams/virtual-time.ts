/** Whether the caller runs within rxjs's `TestScheduler.run`, as in `marbles()`. */
import { asyncScheduler } from 'rxjs';

/** Two readings of the system's clock, one after the other, differ by less. */
const TOLERANCE_MS = 1_000;

/** Within `TestScheduler.run` rxjs's own schedulers show virtual time, which begins at 0. */
export function isVirtualTime(): boolean {
  return Math.abs(Date.now() - asyncScheduler.now()) > TOLERANCE_MS;
}

/**
 * Ends the marble test in progress with this error. The error is thrown by the scheduler, because the code under test
 * may handle what is thrown at it: an informer takes any error of a request for a failed connection, and retries.
 */
export function failMarbles(error: Error): void {
  // Within `TestScheduler.run` this action runs in virtual time, and what it throws leaves `run`.
  asyncScheduler.schedule(() => {
    throw error;
  });
}
