/**
 * Detects a stream that has died silently: a half-open socket reports no error, and after a laptop has slept the
 * socket is dead although no timer fired. Time in which the consumer does not read, or in which the request waits to
 * be sent, does not count, because it is no silence of the server.
 */
import {
  type MonoTypeOperatorFunction,
  Observable,
  type SchedulerLike,
  type Subscription,
} from 'rxjs';
import { stopwatch } from './stopwatch.ts';

/** The options of {@link idleTimeout}. */
export interface IdleTimeoutOptions<T> {
  /** How long the stream may be silent, in milliseconds. Called at every check. */
  limitMs(): number;
  /** How long the consumer has not read, in milliseconds; `undefined` while a read is outstanding. */
  waitingMs(): number | undefined;
  /** Whether a value says that the request waits to be sent. Time from this value to the next does not count. */
  isQueued?(value: T): boolean;
  /** How long the consumer may pause reading, in milliseconds. */
  readonly pauseLimitMs: number;
  /** Creates the error for silence, a jump of the clock, or a pause over its limit. `idleMs` is in milliseconds. */
  error(reason: 'silence' | 'clock-jump' | 'pause', idleMs: number): Error;
  readonly scheduler: SchedulerLike;
  /** The period of the checks, in milliseconds. @defaultValue 5000 */
  readonly checkMs?: number;
}

/** Errors if the source is silent for too long. Passes all values, the completion and errors through. */
export function idleTimeout<T>(options: IdleTimeoutOptions<T>): MonoTypeOperatorFunction<T> {
  const { scheduler, checkMs = 5_000 } = options;
  // Load does not delay a check this much, so the machine slept.
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
        // A value received after the sleep shows that the connection survived.
        else if (gap > jumpMs && now - aliveMs > jumpMs) return fail('clock-jump', now - aliveMs);
        else if (waitingMs !== undefined) {
          if (waitingMs >= options.pauseLimitMs) return fail('pause', waitingMs);
          // Not later than now: a value may have arrived since the last check.
          aliveMs = Math.min(now, aliveMs + gap);
        } else if (now - aliveMs >= options.limitMs()) return fail('silence', now - aliveMs);
        schedule();
      };
      // Only one timer at a time, because a subscription may last for ever and keeps everything added to it.
      let timer: Subscription | undefined;
      subscriber.add(() => timer?.unsubscribe());
      const schedule = () => {
        const leftMs = aliveMs + options.limitMs() - passedMs();
        const delayMs = Math.max(1, Math.min(checkMs, leftMs));
        timer?.unsubscribe();
        timer = scheduler.schedule(check, delayMs);
      };
      schedule();
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
