/** `atMostEvery`, a demand that limits how often its consumer is served. */
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { tap } from 'rxjs/operators';
import { checkedPeriod } from '../checked-option.ts';
import type { Demand } from '../demand.ts';
import { longTimer } from '../long-timer.ts';
import { stopwatch } from '../stopwatch.ts';

/**
 * Creates a demand that is open once every `periodMs` milliseconds: the first time immediately, after an idle period
 * immediately, too. Each consumer needs a demand of its own, because it counts when it was open. Throws a `TypeError`
 * if the period is not a number of 0 or more.
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { atMostEvery, conflateByKey } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const web = { metadata: { name: 'web', uid: 'u1', resourceVersion: '5' } };
 * let delivered = 0;
 * const painted$ = of(changeSet({ added: [web] })).pipe(conflateByKey({ ready: atMostEvery(200) }));
 * painted$.subscribe(() => delivered++);
 * delivered; // => 1
 * ```
 */
export function atMostEvery(
  periodMs: number,
  options: { readonly scheduler?: SchedulerLike | undefined } = {},
): Demand {
  checkedPeriod(periodMs, 'atMostEvery: periodMs', 0);
  const { scheduler = asyncScheduler } = options;
  const passedMs = stopwatch(scheduler);
  let openedMs: number | undefined;
  return () => {
    const nowMs = passedMs();
    const leftMs = openedMs === undefined ? 0 : openedMs + periodMs - nowMs;
    if (leftMs <= 0) {
      openedMs = nowMs;
      return null;
    }
    // A timer may be a fraction of a millisecond early, and must not be asked again for that.
    const isDue = () => {
      openedMs = undefined;
    };
    return longTimer(leftMs, scheduler).pipe(tap(isDue));
  };
}
