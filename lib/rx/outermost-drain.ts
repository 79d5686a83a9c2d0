/**
 * A turn: the outermost drain that runs, with everything that it causes synchronously. An operator with several inputs
 * emits at the end of the turn, after all its inputs have changed, so that it never emits a state that exists only
 * between two of them.
 */
import { reportUnhandled } from './report-unhandled.ts';

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
