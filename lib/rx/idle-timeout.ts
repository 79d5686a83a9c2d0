/**
 * Notices a stream from which nothing comes any more: a half-open socket gives no error, and after a laptop's
 * sleep the socket is dead though no timer ran. Time in which nobody reads does not count, nor time in which the
 * request has still to be sent: a consumer's own pause, or a queue before the network, is no silence of the server.
 */
import {
  type MonoTypeOperatorFunction,
  Observable,
  type SchedulerLike,
  type Subscription,
} from 'rxjs';
import { stopwatch } from './stopwatch.ts';

/** What {@link idleTimeout} takes. */
export interface IdleTimeoutOptions<T> {
  /** How long nothing may come, in milliseconds; asked anew at every check. */
  limitMs(): number;
  /** For how long nobody has read, in milliseconds; `undefined` while a read is outstanding. */
  waitingMs(): number | undefined;
  /** Whether a value says that nothing was sent yet: from it to the next value no time counts. */
  isQueued?(value: T): boolean;
  /** How long nobody may read, in milliseconds. */
  readonly pauseLimitMs: number;
  /** Makes the error: silence, a jump of the clock, or a pause over its limit. `idleMs` is in milliseconds. */
  error(reason: 'silence' | 'clock-jump' | 'pause', idleMs: number): Error;
  readonly scheduler: SchedulerLike;
  /** How often it checks, in milliseconds. @defaultValue 5000 */
  readonly checkMs?: number;
}

/** Errors when nothing comes for too long; passes all else through, complete and error too. */
export function idleTimeout<T>(options: IdleTimeoutOptions<T>): MonoTypeOperatorFunction<T> {
  const { scheduler, checkMs = 5_000 } = options;
  // A check that comes this late was not late by load: the machine slept.
  const jumpMs = Math.max(20_000, checkMs * 3);
  return (source) =>
    new Observable<T>((subscriber) => {
      const passedMs = stopwatch(scheduler);
      let aliveMs = 0;
      let checkedMs = 0;
      let queued = false;
      const fail = (reason: 'silence' | 'clock-jump' | 'pause', idleMs: number) => {
        subscriber.error(options.error(reason, idleMs));
      };
      const check = (): void => {
        const now = passedMs();
        const gap = now - checkedMs;
        checkedMs = now;
        const waitingMs = options.waitingMs();
        if (queued) aliveMs = now;
        // What came since it woke shows that the connection outlived the sleep.
        else if (gap > jumpMs && now - aliveMs > jumpMs) return fail('clock-jump', now - aliveMs);
        else if (waitingMs !== undefined) {
          if (waitingMs >= options.pauseLimitMs) return fail('pause', waitingMs);
          aliveMs += gap;
        } else if (now - aliveMs >= options.limitMs()) return fail('silence', now - aliveMs);
        again();
      };
      // One at a time: a run may last for ever, and what is added to it stays until its end.
      let timer: Subscription | undefined;
      subscriber.add(() => timer?.unsubscribe());
      const again = () => {
        const leftMs = aliveMs + options.limitMs() - passedMs();
        const delayMs = Math.max(1, Math.min(checkMs, leftMs));
        timer?.unsubscribe();
        timer = scheduler.schedule(check, delayMs);
      };
      again();
      subscriber.add(
        source.subscribe({
          next: (value) => {
            aliveMs = passedMs();
            queued = options.isQueued?.(value) ?? false;
            subscriber.next(value);
          },
          error: (error) => subscriber.error(error),
          complete: () => subscriber.complete(),
        }),
      );
    });
}
