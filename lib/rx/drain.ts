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
    depth++;
    try {
      attempt(task);
      if (this.#tasks.length > 0) this.#runQueued();
    } finally {
      this.#busy = false;
      endTurn();
    }
  }

  #runQueued(): void {
    // Indexed, because shift() on a long array moves every element, and tasks may queue others.
    for (let at = 0; at < this.#tasks.length; at++) attempt(this.#tasks[at] as () => void);
    this.#tasks = [];
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
/** By rank, and of one rank in the order in which they were added. */
const endings: Ending[] = [];

function attempt(task: () => void): void {
  try {
    task();
  } catch (error) {
    reportUnhandled(error);
  }
}

/** The endings belong to the turn: a drain that they cause must not run the remaining ones. */
function endTurn(): void {
  if (depth === 1) while (endings.length > 0) attempt((endings.shift() as Ending).task);
  depth--;
}

/**
 * Calls the function as one turn, as an informer delivers a commit: a live operator, or a view, that has several sources emits
 * once at the end of the turn, and not for each of them. Returns what the function returns.
 *
 * Within a turn it belongs to that turn. Otherwise the turn ends before the call returns, also if the function throws, which
 * the caller receives. An error of an operator at the end of the turn is reported as RxJS reports unhandled errors.
 *
 * ```
 * a$                      -(x)-------
 * b$                      -(y)-------   in one turn
 * liveUnion({ a: a$, b: b$ })  -(xy)------   one set
 * ```
 *
 * @example
 * ```ts
 * import { Subject } from 'rxjs';
 * import { type ChangeSet, liveUnion } from 'rx-informer';
 * import { changeSet, inTurn } from 'rx-informer/testing';
 *
 * interface Row {
 *   metadata: { name: string; uid: string };
 * }
 * const row = (name: string): Row => ({ metadata: { name, uid: name } });
 * const [a$, b$] = [new Subject<ChangeSet<Row>>(), new Subject<ChangeSet<Row>>()];
 * let sets = 0;
 * liveUnion({ a: a$, b: b$ }).subscribe(() => sets++);
 * const before = sets;
 * inTurn(() => {
 *   a$.next(changeSet({ added: [row('x')], reset: true }));
 *   b$.next(changeSet({ added: [row('y')], reset: true }));
 * });
 * sets - before; // => 1
 * ```
 */
export function inTurn<R>(task: () => R): R {
  depth++;
  try {
    return task();
  } finally {
    endTurn();
  }
}

/**
 * Runs the task at the end of the running turn, after the tasks of a lower rank. An operator has a higher rank than
 * its sources. Without a running turn the task runs immediately.
 */
export function atEndOfTurn(rank: number, task: () => void): void {
  inTurn(() => {
    let at = endings.length;
    while (at > 0 && (endings[at - 1] as Ending).rank > rank) at--;
    endings.splice(at, 0, { rank, task });
  });
}
