/** The timer of a machine, which wakes it when its next row is due. */
import { type SchedulerLike, Subscription } from 'rxjs';
import { longTimer } from '../../rx/long-timer.ts';

/**
 * How often the clock is read, in milliseconds, or after which part of the time that is left. A timer stands still while the
 * machine sleeps, and the clock may be set.
 */
const CHECK_MS = 60_000;
const CHECK_PART = 1e-4;

export class DueTimer {
  readonly #scheduler: SchedulerLike;
  readonly #wake: () => void;
  #dueMs: number | undefined;
  #run: Subscription | undefined;

  constructor(scheduler: SchedulerLike, wake: () => void) {
    this.#scheduler = scheduler;
    this.#wake = wake;
  }

  /** Sets the time to wake at, in milliseconds since the Unix epoch; `undefined` means never. */
  await(dueMs: number | undefined): void {
    if (this.#dueMs === dueMs) return;
    this.close();
    if (dueMs === undefined) return;
    this.#wait(dueMs);
  }

  #wait(dueMs: number): void {
    this.#dueMs = dueMs;
    const complete = () => {
      if (this.#scheduler.now() < dueMs) return this.#wait(dueMs);
      this.#dueMs = undefined;
      this.#wake();
    };
    const leftMs = dueMs - this.#scheduler.now();
    const stepMs = Math.min(leftMs, Math.max(CHECK_MS, leftMs * CHECK_PART));
    // Assigned before subscribing, because a timer that is due at once wakes the machine in `subscribe`.
    const run = new Subscription();
    this.#run = run;
    run.add(longTimer(stepMs, this.#scheduler).subscribe({ complete }));
  }

  close(): void {
    this.#run?.unsubscribe();
    this.#run = undefined;
    this.#dueMs = undefined;
  }
}
