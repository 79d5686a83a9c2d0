/** A scheduler whose clock moves with every reading, so that a slice of 8 ms ends after a few steps. */
import { type SchedulerLike, Subscription } from 'rxjs';

/** Runs nothing by itself: a test runs one slice after another. */
export class SlicesOfTime implements SchedulerLike {
  readonly #tickMs: number;
  readonly #waiting = new Set<() => void>();
  #nowMs = 1_000;

  constructor(tickMs = 8) {
    this.#tickMs = tickMs;
  }

  /** How many slices wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  now(): number {
    this.#nowMs += this.#tickMs;
    return this.#nowMs;
  }

  schedule: SchedulerLike['schedule'] = (work, _delay = 0, state) => {
    const run = () => work.call(undefined as never, state as never);
    this.#waiting.add(run);
    return new Subscription(() => this.#waiting.delete(run));
  };

  /** Runs up to `most` slices, and returns how many ran. */
  run(most = Number.POSITIVE_INFINITY): number {
    for (let ran = 0; ran < most; ran++) {
      const [next] = this.#waiting;
      if (next === undefined) return ran;
      this.#waiting.delete(next);
      next();
    }
    return most;
  }
}
