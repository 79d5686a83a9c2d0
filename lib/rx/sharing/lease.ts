/**
 * Shares one run among many holders, and lets it linger after the last holder has left, so that a page that unmounts
 * and mounts again keeps its watch. rxjs's `share({ resetOnRefCountZero: () => timer(…) })` is not used: if its
 * source ends, the departing subscribers start the linger timer after the reset, and the timer stays behind.
 */
import { type Observable, type SchedulerLike, Subscription } from 'rxjs';
import type { Drain } from '../drain.ts';
import { reportingErrors, reportUnhandled } from '../report-unhandled.ts';
import { afterLinger, Holders } from './holders.ts';

/**
 * The hold on one shared run. Its methods, and the releases that `acquire` returns, must be called within the drain.
 */
export interface Lease {
  /**
   * Holds the run, and starts it if it is not running. Call the returned function to release it; only its first call
   * counts.
   */
  acquire(): () => void;
  /** Ends the run immediately, whoever holds it. Releases of its holders do nothing afterwards. */
  end(): void;
  readonly active: boolean;
}

/**
 * Creates a lease on `run`. `onEnd` is called before the call that ended the run returns, with the reason: `linger`
 * (the last holder has been gone for `lingerMs`), `ended` (by {@link Lease.end}) or `complete` (the run completed, or
 * failed with an error, which is reported). So the next task of the drain finds a run that is either active or
 * completely ended. An error that the run throws while it is unsubscribed is reported. An infinite `lingerMs` keeps
 * the run until {@link Lease.end}, without a timer.
 */
export function lease(
  run: Observable<unknown>,
  options: {
    readonly lingerMs: number;
    readonly scheduler: SchedulerLike;
    readonly drain: Drain;
    onStart(): void;
    onEnd(why: 'linger' | 'ended' | 'complete'): void;
  },
): Lease {
  const { lingerMs, scheduler, drain } = options;
  let live: { readonly subscription: Subscription; readonly holders: Holders } | undefined;

  const finish = (why: 'linger' | 'ended' | 'complete') => {
    if (live === undefined) return;
    const { subscription, holders } = live;
    live = undefined;
    holders.cancel();
    reportingErrors(() => subscription.unsubscribe())();
    options.onEnd(why);
  };
  const begin = () => {
    // Each run has holders of its own, so those of an earlier run have no effect on it.
    const holders = new Holders(
      () => finish('linger'),
      (end) => {
        if (live !== own) return;
        // A new holder may come between the timer and the task.
        const inTurn = lingerMs === 0 ? end : () => drain.run(end);
        return afterLinger(inTurn, lingerMs, scheduler);
      },
    );
    const own = { subscription: new Subscription(), holders };
    live = own;
    const complete = () => {
      if (live === own) finish('complete');
    };
    const release = holders.hold();
    options.onStart();
    own.subscription.add(
      run.subscribe({
        error: (error) => {
          reportUnhandled(error);
          drain.run(complete);
        },
        complete,
      }),
    );
    return release;
  };

  return {
    acquire: () => live?.holders.hold() ?? begin(),
    end: () => finish('ended'),
    get active() {
      return live !== undefined;
    },
  };
}
