/**
 * A timer for waits over 2^31 ms (24.8 days), which `setTimeout` fires at once.
 */
import { Observable, type SchedulerLike } from 'rxjs';

const LONGEST_MS = 2 ** 31 - 1;

/** Emits 0 and completes after `delayMs`, however long that is. */
export function longTimer(delayMs: number, scheduler: SchedulerLike): Observable<0> {
  return new Observable<0>((subscriber) => {
    const wait = (leftMs: number): void => {
      const stepMs = Math.min(leftMs, LONGEST_MS);
      subscriber.add(
        scheduler.schedule(() => {
          if (leftMs > stepMs) return wait(leftMs - stepMs);
          subscriber.next(0);
          subscriber.complete();
        }, stepMs),
      );
    };
    wait(Math.max(0, delayMs));
  });
}
