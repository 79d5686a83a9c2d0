/**
 * Shares one run among many holders, and lets it linger after the last holder has left, so that a page that unmounts
 * and mounts again keeps its watch. rxjs's `share({ resetOnRefCountZero: () => timer(…) })` is not used: if its
 * source ends, the departing subscribers start the linger timer after the reset, and the timer stays behind.
 */
import { type Observable, type SchedulerLike, Subscription } from 'rxjs';
import type { Drain } from './drain.ts';
import { longTimer } from './long-timer.ts';
import { reportingErrors, reportUnhandled } from './report-unhandled.ts';

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
  let live: Subscription | undefined;
  let linger: Subscription | undefined;
  let holders = 0;
  let epoch = 0;

  const finish = (why: 'linger' | 'ended' | 'complete') => {
    if (live === undefined) return;
    const ending = live;
    live = undefined;
    holders = 0;
    epoch++;
    linger?.unsubscribe();
    linger = undefined;
    reportingErrors(() => ending.unsubscribe())();
    options.onEnd(why);
  };
  const expire = () => {
    const expiring = new Subscription();
    linger = expiring;
    const ifStillLingering = () => {
      // A new holder may have arrived between the timer and this task.
      if (linger === expiring) finish('linger');
    };
    expiring.add(
      longTimer(options.lingerMs, options.scheduler).subscribe(() =>
        options.drain.run(ifStillLingering),
      ),
    );
  };
  const begin = () => {
    const starting = new Subscription();
    live = starting;
    options.onStart();
    starting.add(
      run.subscribe({
        error: (error) => {
          reportUnhandled(error);
          options.drain.run(() => {
            if (live === starting) finish('complete');
          });
        },
        complete: () => {
          if (live === starting) finish('complete');
        },
      }),
    );
  };

  return {
    acquire() {
      linger?.unsubscribe();
      linger = undefined;
      holders++;
      const held = epoch;
      if (live === undefined) begin();
      // A run that ended while it started has already released its holders.
      let released = held !== epoch;
      return () => {
        if (released || held !== epoch) return;
        released = true;
        holders--;
        if (holders > 0 || live === undefined) return;
        if (options.lingerMs === 0) finish('linger');
        else if (options.lingerMs !== Number.POSITIVE_INFINITY) expire();
      };
    },
    end: () => finish('ended'),
    get active() {
      return live !== undefined;
    },
  };
}
