/**
 * `Demand`, the project's form of back-pressure. A stage asks the demand before it moves data on: a reader before
 * each read, the queue before each pop, a policy before each delivery. `null` means that there is capacity now;
 * otherwise the returned Observable emits or completes when there is capacity again.
 */
import { concat, defer, type Observable, of, type SchedulerLike } from 'rxjs';
import { catchError, defaultIfEmpty, ignoreElements, take } from 'rxjs/operators';
import { nextMacrotask } from './next-macrotask.ts';
import { stopwatch } from './stopwatch.ts';

/** Returns `null` if there is capacity now, otherwise a signal for when there is. */
export type Demand = () => Observable<unknown> | null;

/** A demand that is always open. */
export const unlimited: Demand = () => null;

/**
 * Stays open for `budgetMs` milliseconds, then closes for one turn of the event loop, so that a flood of input does
 * not starve timers, user input and painting.
 */
export function timeSlice(options: { budgetMs: number; scheduler: SchedulerLike }): Demand {
  const { budgetMs, scheduler } = options;
  const passedMs = stopwatch(scheduler);
  let since: number | undefined;
  return () => {
    const now = passedMs();
    // An idle gap looks like one long piece of work. It costs one turn, which is the price of never starving other
    // tasks.
    if (since === undefined) {
      since = now;
      return null;
    }
    if (now - since < budgetMs) return null;
    since = undefined;
    return nextMacrotask(scheduler);
  };
}

/** Combines demands, which are asked in order. The result is open when all of them are open. */
export function allOf(...demands: readonly Demand[]): Demand {
  return () => {
    for (let index = 0; index < demands.length; index++) {
      const wait = (demands[index] as Demand)();
      if (wait === null) continue;
      const rest = allOf(...demands.slice(index + 1));
      return concat(
        wait.pipe(take(1), ignoreElements()),
        defer(() => rest() ?? [0]).pipe(take(1), defaultIfEmpty(0)),
      );
    }
    return null;
  };
}

/**
 * Guards a user's demand. If the demand throws or its signal errors, the error is reported and the demand counts as
 * open.
 */
export function reliable(demand: Demand, report: (error: unknown) => void): Demand {
  const failed = (error: unknown) => {
    report(error);
    return null;
  };
  return () => {
    let wait: ReturnType<Demand>;
    try {
      wait = demand();
    } catch (error) {
      return failed(error);
    }
    return wait?.pipe(catchError((error) => of(failed(error)))) ?? null;
  };
}
