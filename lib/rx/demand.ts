/**
 * Back-pressure as one type. Whoever moves data on asks a `Demand` first: the reader before each read, the
 * queue before each pop, conflation before each delivery. `null` means room now; an Observable fires (or
 * completes) when there is room again.
 */
import { concat, defer, type Observable, of, type SchedulerLike } from 'rxjs';
import { catchError, defaultIfEmpty, ignoreElements, take } from 'rxjs/operators';
import { nextMacrotask } from './next-macrotask.ts';
import { stopwatch } from './stopwatch.ts';

/** Room now (`null`), or a signal that comes when there is room. */
export type Demand = () => Observable<unknown> | null;

/** A demand that is always met. */
export const unlimited: Demand = () => null;

/**
 * Lets work go on for `budgetMs`, then asks for one turn of the event loop, so that a flood of input leaves
 * room for timers, input and paint.
 */
export function timeSlice(options: { budgetMs: number; scheduler: SchedulerLike }): Demand {
  const { budgetMs, scheduler } = options;
  const passedMs = stopwatch(scheduler);
  let since: number | undefined;
  return () => {
    const now = passedMs();
    // An idle gap looks like one long piece of work: the turn that it costs is the price of never starving.
    if (since === undefined) {
      since = now;
      return null;
    }
    if (now - since < budgetMs) return null;
    since = undefined;
    return nextMacrotask(scheduler);
  };
}

/** Room when all of them have room, asked in order. */
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

/** A demand of somebody who may fail: one that throws or errors is reported, and counts as met. */
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
