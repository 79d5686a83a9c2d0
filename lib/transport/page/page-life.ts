/**
 * Reports when a page is hidden, left or frozen, and when its network may have changed. A page that is left may be kept
 * in the back/forward cache, where nothing runs and an open connection would prevent that it is kept.
 */
import {
  fromEvent,
  interval,
  merge,
  Observable,
  type SchedulerLike,
  type Subscription,
} from 'rxjs';
import { longTimer } from '../../rx/long-timer.ts';
import { stopwatch } from '../../rx/stopwatch.ts';

/** Why no stream may be open: the tab was hidden for a while, or the page is left or frozen and must close everything. */
export type Away = 'hidden' | 'gone';

/** What happened to the page. `awake`: requests that failed or wait before a retry are worth another try now. */
export type PageEvent = { readonly away: Away | undefined } | { readonly awake: true };

/** How often the clock is read, in milliseconds, and how late that must be for a machine that slept. */
const CHECK_MS = 5_000;
const SLEPT_MS = 20_000;

interface Page {
  readonly document?: EventTarget & { readonly visibilityState?: string };
  addEventListener?: EventTarget['addEventListener'];
}

/** Whether the page is hidden now. A worker never is. */
export function isHidden(): boolean {
  return (globalThis as Page).document?.visibilityState === 'hidden';
}

/** Emits while it is subscribed. */
export function pageLife(options: {
  readonly scheduler: SchedulerLike;
  /** How long a hidden page counts as shown, in milliseconds. */
  readonly graceMs: number;
}): Observable<PageEvent> {
  const { scheduler, graceMs } = options;
  return new Observable<PageEvent>((subscriber) => {
    const page = globalThis as Page;
    const { document } = page;
    if (page.addEventListener === undefined) return undefined;
    const passedMs = stopwatch(scheduler);
    let away: Away | undefined;
    let grace: Subscription | undefined;
    let checkedMs = 0;
    const enter = (next: Away | undefined) => {
      grace?.unsubscribe();
      grace = undefined;
      if (next === away) return;
      away = next;
      subscriber.next({ away });
      if (next === undefined) subscriber.next({ awake: true });
    };
    const look = () => {
      if (!isHidden()) return enter(undefined);
      // A page that returns from the cache or thaws in a hidden tab has no second grace.
      if (away !== undefined) return enter('hidden');
      grace ??= longTimer(graceMs, scheduler).subscribe(() => enter('hidden'));
    };
    const on = (target: EventTarget | undefined, ...names: string[]) =>
      target === undefined ? [] : names.map((name) => fromEvent(target, name));
    const window = page as EventTarget;
    subscriber.add(() => grace?.unsubscribe());
    subscriber.add(
      merge(...on(document, 'visibilitychange', 'resume'), ...on(window, 'pageshow')).subscribe(
        look,
      ),
    );
    subscriber.add(
      merge(...on(document, 'freeze'), ...on(document && window, 'pagehide')).subscribe(() =>
        enter('gone'),
      ),
    );
    subscriber.add(
      merge(...on(window, 'online')).subscribe(() => subscriber.next({ awake: true })),
    );
    subscriber.add(
      interval(CHECK_MS, scheduler).subscribe(() => {
        const lateMs = passedMs() - checkedMs - CHECK_MS;
        checkedMs = passedMs();
        // A browser delays the timers of a hidden tab.
        if (lateMs > SLEPT_MS && !isHidden()) subscriber.next({ awake: true });
      }),
    );
    look();
    return undefined;
  });
}
