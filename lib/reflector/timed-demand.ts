/** Watches a demand: for how long has it been closed? Time in which nobody reads is no silence of the server. */
import { Observable, type SchedulerLike } from 'rxjs';
import type { Demand } from '../rx/demand.ts';
import { stopwatch } from '../rx/stopwatch.ts';

/** A demand that can be asked how long it has been closed. */
export interface TimedDemand {
  readonly demand: Demand;
  /** For how long there has been no room, in milliseconds; `undefined` while there is. */
  closedMs(): number | undefined;
  /** A new request begins: nothing is waiting. */
  open(): void;
}

/** Passes a demand on and remembers when it closed. */
export function createTimedDemand(demand: Demand, scheduler: SchedulerLike): TimedDemand {
  const passedMs = stopwatch(scheduler);
  let since: number | undefined;
  return {
    closedMs: () => (since === undefined ? undefined : passedMs() - since),
    open() {
      since = undefined;
    },
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
        // Also where the request ends in between: then nobody waits any more.
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
