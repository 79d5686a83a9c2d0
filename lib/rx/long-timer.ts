/**
 * Timers for waits over 2^31 ms (24.8 days), for which `setTimeout` would fire immediately.
 */
import { NEVER, Observable, type SchedulerLike, Subscription } from 'rxjs';
import { repeat } from 'rxjs/operators';

const LONGEST_MS = 2_147_483_647;

/**
 * Emits 0 and completes after `delayMs` milliseconds, of any length. An infinite delay never ends and needs no timer.
 */
export function longTimer(delayMs: number, scheduler: SchedulerLike): Observable<0> {
  if (delayMs === Number.POSITIVE_INFINITY) return NEVER;
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

/** Emits 0 every `periodMs` milliseconds, of any length. An infinite period never emits. */
export function longInterval(periodMs: number, scheduler: SchedulerLike): Observable<0> {
  return longTimer(periodMs, scheduler).pipe(repeat());
}

/**
 * Calls `work` after `delayMs` milliseconds, of any length, unless the returned subscription is unsubscribed. The timer
 * does not keep a Node process alive.
 */
export function looseTimer(
  delayMs: number,
  scheduler: SchedulerLike,
  work: () => void,
): Subscription {
  if (delayMs === Number.POSITIVE_INFINITY) return new Subscription();
  const stepMs = Math.min(delayMs, LONGEST_MS);
  const action: Subscription = scheduler.schedule(() => {
    if (delayMs === stepMs) work();
    else timer.add(looseTimer(delayMs - stepMs, scheduler, work));
  }, stepMs);
  // rxjs's own schedulers keep the timer of the platform in `id`; in Node it is an object.
  const { id } = action as { readonly id?: { unref?(): unknown } };
  id?.unref?.();
  const timer = new Subscription(() => action.unsubscribe());
  return timer;
}
