/**
 * Shares one run among many holders and lets it linger after the last has gone: a page that unmounts and mounts
 * again keeps its watch. rxjs's `share({ resetOnRefCountZero: () => timer(…) })` is not used: when its source is
 * ended from outside, the departing subscribers start the linger timer after the reset, and it stays behind.
 */
import { type Observable, type SchedulerLike, Subscription } from 'rxjs';
import type { Drain } from './drain.ts';
import { longTimer } from './long-timer.ts';
import { reportUnhandled, told } from './report-unhandled.ts';

/** One shared run. Its methods, and the releases that `acquire` returns, are called within the drain. */
export interface Lease {
  /** Holds the run, starting it if need be; the answer lets go, once. */
  acquire(): () => void;
  /** Ends the run at once, whoever holds it. Those holders' releases do nothing from then on. */
  end(): void;
  readonly active: boolean;
}

/**
 * `onEnd` is called before the call that ended the run returns, with the reason: `linger` (the last holder has been
 * gone for `lingerMs`), `ended` (by {@link Lease.end}) or `complete` (by itself; an error is reported, and ends the
 * run in the same way). So the next task of the drain finds a run that is either alive or completely over.
 * What the run throws while it is unsubscribed is reported. An infinite `lingerMs` keeps the run until
 * {@link Lease.end}, without a timer.
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
    told(() => ending.unsubscribe())();
    options.onEnd(why);
  };
  const expire = () => {
    const expiring = new Subscription();
    linger = expiring;
    const over = () => {
      // Somebody may have come between the timer and this turn.
      if (linger === expiring) finish('linger');
    };
    expiring.add(
      longTimer(options.lingerMs, options.scheduler).subscribe(() => options.drain.run(over)),
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
      // A run that ended while it began has already let go of everyone.
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
