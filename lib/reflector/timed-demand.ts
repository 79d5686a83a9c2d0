/**
 * Measures how long a demand has been closed. The watchdog needs this, because time in which nothing is read is not
 * silence of the server.
 */
import type { SchedulerLike } from 'rxjs';
import { finalize, tap } from 'rxjs/operators';
import { allOf, type Demand, strict } from '../rx/demand.ts';
import { stopwatch } from '../rx/stopwatch.ts';

/** A demand that knows how long it has been closed. */
export interface TimedDemand {
  readonly demand: Demand;
  /** How long the demand has been closed, in milliseconds; `undefined` while it is open. */
  closedMs(): number | undefined;
}

/** Wraps a demand and remembers when it closed. */
export function createTimedDemand(demand: Demand, scheduler: SchedulerLike): TimedDemand {
  const passedMs = stopwatch(scheduler);
  const combined = allOf(demand);
  let since: number | undefined;
  /** The value of `since` before a signal, after which the demand may turn out to be closed still. */
  let before: number | undefined;
  const open = () => {
    since = undefined;
    before = undefined;
  };
  return {
    closedMs: () => (since === undefined ? undefined : passedMs() - since),
    demand: strict(() => {
      const wait = combined();
      if (wait === null) {
        open();
        return null;
      }
      since ??= before ?? passedMs();
      let waits = true;
      return wait.pipe(
        tap(() => {
          waits = false;
          before = since;
          since = undefined;
        }),
        // The request may end first; then no read waits for the demand any more.
        finalize(() => waits && open()),
      );
    }),
  };
}
