/**
 * The queue through which all writes, notifications and lifecycle calls of an informer pass. A call made inside a
 * callback waits for its turn, so all observers see one order and nothing recurses. Without it, a `Subject.next`
 * inside `next` would show the last observer the newer value first.
 */
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
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
      // Indexed, because shift() on a long array moves every element.
      for (let next: (() => void) | undefined = task, at = 0; next; next = this.#tasks[at++]) {
        try {
          next();
        } catch (error) {
          reportUnhandled(error);
        }
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
}

/** Passes notifications through a drain: each value is processed completely before the next one begins. */
export function inDrain<T>(drain: Drain): MonoTypeOperatorFunction<T> {
  return (source) =>
    new Observable<T>((subscriber) =>
      source.subscribe({
        next: (value) => drain.run(() => subscriber.next(value)),
        error: (error) => drain.run(() => subscriber.error(error)),
        complete: () => drain.run(() => subscriber.complete()),
      }),
    );
}

// A turn: the outermost drain that runs, with everything that it causes synchronously. An operator with several inputs emits
// at the end of the turn, after all its inputs have changed, so that it never emits a state that exists only between two of
// them.

interface Ending {
  readonly rank: number;
  readonly task: () => void;
}

let depth = 0;
const endings: Ending[] = [];

function runEndings(): void {
  while (endings.length > 0) {
    let lowest = 0;
    for (let at = 1; at < endings.length; at++) {
      if ((endings[at] as Ending).rank < (endings[lowest] as Ending).rank) lowest = at;
    }
    const [ending] = endings.splice(lowest, 1) as [Ending];
    try {
      ending.task();
    } catch (error) {
      reportUnhandled(error);
    }
  }
}

/** Runs the task as part of the running turn, or as a turn of its own, which ends before this function returns. */
export function inTurn<R>(task: () => R): R {
  depth++;
  try {
    return task();
  } finally {
    // The endings belong to the turn: a drain that they cause must not run the remaining ones.
    if (depth === 1) runEndings();
    depth--;
  }
}

/**
 * Runs the task at the end of the running turn, after the tasks of a lower rank. An operator has a higher rank than
 * its sources. Without a running turn the task runs immediately.
 */
export function atEndOfTurn(rank: number, task: () => void): void {
  inTurn(() => endings.push({ rank, task }));
}
