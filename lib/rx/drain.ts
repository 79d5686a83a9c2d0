/**
 * One queue through which all writes, notifications and lifecycle calls of an informer pass. A call made inside
 * a callback waits its turn, so observers see one order and nothing recurses; `Subject.next` inside `next`
 * would show the last observer the newer value first.
 */
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { reportUnhandled } from './report-unhandled.ts';

/** Runs tasks one after the other, in the order in which they came. */
export class Drain {
  #tasks: (() => void)[] = [];
  #busy = false;

  /**
   * Runs the task now, or after the one that is running. A task that throws is reported and the next one runs.
   */
  run(task: () => void): void {
    if (this.#busy) {
      this.#tasks.push(task);
      return;
    }
    this.#busy = true;
    try {
      this.#perform(task);
      // Indexed, because shift() on a long array moves every element.
      for (let at = 0; at < this.#tasks.length; at++) {
        this.#perform(this.#tasks[at] as () => void);
      }
    } finally {
      this.#tasks = [];
      this.#busy = false;
    }
  }

  /**
   * Runs the task at once: as part of the task that is running, if there is one, else as a task of its own. For a
   * subscription, whose first value must be there when `subscribe` returns.
   */
  enter(task: () => void): void {
    if (this.#busy) task();
    else this.run(task);
  }

  /** Whether a task is running. */
  get busy(): boolean {
    return this.#busy;
  }

  #perform(task: () => void): void {
    try {
      task();
    } catch (error) {
      reportUnhandled(error);
    }
  }
}

/** Passes what comes through a drain: each value is dealt with whole before the next begins. */
export function through<T>(drain: Drain): MonoTypeOperatorFunction<T> {
  return (source) =>
    new Observable<T>((subscriber) =>
      source.subscribe({
        next: (value) => drain.run(() => subscriber.next(value)),
        error: (error) => drain.run(() => subscriber.error(error)),
        complete: () => drain.run(() => subscriber.complete()),
      }),
    );
}
