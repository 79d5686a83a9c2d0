/**
 * `Demand`, the project's form of back-pressure. A stage asks the demand before it moves data on: a reader before
 * each read, the queue before each pop, a policy before each delivery.
 */
import { defer, EMPTY, merge, type Observable, of, type SchedulerLike } from 'rxjs';
import { catchError, defaultIfEmpty, expand, ignoreElements, take, tap } from 'rxjs/operators';
import { nextMacrotask } from './next-macrotask.ts';
import { stopwatch } from './stopwatch.ts';

/**
 * Returns `null` if there is capacity now, for one step. Otherwise it returns an Observable whose first value or
 * completion is the signal to ask again: the demand stays closed as long as it returns another Observable.
 *
 * Some demands only know signals, such as `() => timer(200)`. Therefore, as long as a demand has never returned `null`
 * after a signal, each of its signals is capacity for one step. A signal within `subscribe` counts as `null`.
 *
 * A demand may count its answers, so give each consumer a demand of its own. {@link atMostEvery},
 * {@link animationFrames} and {@link whenDrained} create demands.
 */
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

/** Demands whose `null` alone means that they are open: those that were combined by {@link allOf}, and wrappers. */
const strictDemands = /* @__PURE__ */ new WeakSet<Demand>();

/** Marks a wrapper of a combined demand: its signals are not capacity, it is asked again. Returns the wrapper. */
export function strict(demand: Demand): Demand {
  strictDemands.add(demand);
  return demand;
}

/** Asks a part of a combined demand. With `isTaken` it only notes that the combined demand was open. */
type AskedDemand = (isTaken?: boolean) => Observable<unknown> | null;

function asking(demand: Demand): AskedDemand {
  if (strictDemands.has(demand)) return (isTaken) => (isTaken ? null : demand());
  /** Its Observable has signalled since the demand was open. */
  let hasSignalled = false;
  /** Its Observable signalled within `subscribe`, which is another way of saying `null`. */
  let isOpen = false;
  /** It has once returned `null` after a signal, so it says itself when it is open. */
  let confirms = false;
  return (isTaken) => {
    if (isTaken) {
      hasSignalled = false;
      isOpen = false;
    }
    if (isTaken || isOpen) return null;
    const wait = demand();
    if (wait === null) confirms ||= hasSignalled;
    if (wait === null || (hasSignalled && !confirms)) return null;
    return defer(() => {
      let isSubscribing = true;
      const signal$ = wait.pipe(
        take(1),
        defaultIfEmpty(0),
        tap(() => {
          hasSignalled = true;
          isOpen = isSubscribing;
        }),
      );
      const subscribed$ = defer(() => {
        isSubscribing = false;
        return EMPTY;
      });
      return merge(signal$, subscribed$);
    });
  };
}

/**
 * Combines demands, which are asked in order. The result is open when all of them are open. The demands behind a closed
 * one are not asked, so a demand that counts how often it was open, such as {@link atMostEvery}, is best the last one.
 */
export function allOf(...demands: readonly Demand[]): Demand {
  const parts = demands.map(asking);
  return strict(() => {
    for (const part of parts) {
      const wait = part();
      if (wait !== null) return wait;
    }
    for (const part of parts) part(true);
    return null;
  });
}

/** A demand that is open while `isOpen()` is true, and otherwise as the given demand is. */
export function unless(isOpen: () => boolean, demand: Demand): Demand {
  const combined = allOf(demand);
  return strict(() => (isOpen() ? null : combined()));
}

/**
 * For a stage that waits for a demand. The returned function returns `null` if the demand is open, otherwise an
 * Observable that completes when it is, for which the demand is asked as often as needed.
 */
export function untilOpen(demand: Demand = unlimited): () => Observable<never> | null {
  const combined = allOf(demand);
  const again = () => combined() ?? EMPTY;
  return () => combined()?.pipe(expand(again), ignoreElements()) ?? null;
}

/**
 * Guards a user's demand. If the demand throws or its signal errors, the error is reported and the demand counts as
 * open.
 */
export function reliable(demand: Demand, report: (error: unknown) => void): Demand {
  const combined = allOf(demand);
  let hasFailed = false;
  return strict(() => {
    if (hasFailed) {
      hasFailed = false;
      return null;
    }
    try {
      const wait = combined();
      if (wait === null) return null;
      return wait.pipe(
        catchError((error) => {
          report(error);
          hasFailed = true;
          return of(0);
        }),
      );
    } catch (error) {
      report(error);
      return null;
    }
  });
}
