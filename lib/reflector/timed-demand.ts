/**
 * Measures how long a demand has been closed. The watchdog needs this, because time in which nothing is read is not
 * silence of the server.
 */
import { Observable, type SchedulerLike } from 'rxjs';
import type { Demand } from '../rx/demand.ts';
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
  let since: number | undefined;
  return {
    closedMs: () => (since === undefined ? undefined : passedMs() - since),
    demand: () => {
      const wait = demand();
      if (wait === null) {
        since = undefined;
        return null;
      }
      since ??= passedMs();
      return new Observable((subscriber) => {
        let waits = true;
        const opened = () => {
          if (waits) since = undefined;
          waits = false;
        };
        // The request may end first; then no read waits for the demand any more.
        subscriber.add(opened);
        return wait.subscribe({
          next: (value) => {
            opened();
            subscriber.next(value);
          },
          error: (error) => subscriber.error(error),
          complete: () => {
            opened();
            subscriber.complete();
          },
        });
      });
    },
  };
}
