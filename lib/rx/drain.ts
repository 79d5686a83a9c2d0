/**
 * The queue through which all writes, notifications and lifecycle calls of an informer pass. A call made inside a
 * callback waits for its turn, so all observers see one order and nothing recurses. Without it, a `Subject.next`
 * inside `next` would show the last observer the newer value first.
 */
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { inTurn } from './outermost-drain.ts';
import { reportUnhandled } from './report-unhandled.ts';

/** Runs tasks one at a time, in the order in which they were queued. */
export class Drain {
  #tasks: (() => void)[] = [];
  #busy = false;

  /**
   * Runs the task now, or after the running task and those queued before it. If a task throws, the error is reported
   * and the next task runs.
   */
  run(task: () => void): void {
    if (this.#busy) {
      this.#tasks.push(task);
      return;
    }
    this.#busy = true;
    inTurn(() => {
      this.#perform(task);
      // Indexed, because shift() on a long array moves every element.
      for (let at = 0; at < this.#tasks.length; at++) {
        this.#perform(this.#tasks[at] as () => void);
      }
      this.#tasks = [];
      this.#busy = false;
    });
  }

  /**
   * Runs the task synchronously: as part of the running task, or as a task of its own if none runs. Used for a
   * subscription whose first value must be emitted before `subscribe` returns.
   */
  enter(task: () => void): void {
    if (this.#busy) task();
    else this.run(task);
  }

  #perform(task: () => void): void {
    try {
      task();
    } catch (error) {
      reportUnhandled(error);
    }
  }
}

/** Passes notifications through a drain: each value is processed completely before the next one begins. */
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
