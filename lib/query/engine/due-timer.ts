/** The timer of a machine, which wakes it when its next row is due. */
import { type SchedulerLike, Subscription } from 'rxjs';
import { longTimer } from '../../rx/long-timer.ts';

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
    this.#dueMs = dueMs;
    const complete = () => {
      this.#dueMs = undefined;
      this.#wake();
    };
    // Assigned before subscribing, because a timer that is due at once wakes the machine in `subscribe`.
    const run = new Subscription();
    this.#run = run;
    run.add(longTimer(dueMs - this.#scheduler.now(), this.#scheduler).subscribe({ complete }));
  }

  close(): void {
    this.#run?.unsubscribe();
    this.#run = undefined;
    this.#dueMs = undefined;
  }
}
