/** The life of the page of a tab, and the notice of its worker's death. */
import {
  asyncScheduler,
  fromEvent,
  merge,
  Observable,
  type SchedulerLike,
  Subscription,
} from 'rxjs';
import { map } from 'rxjs/operators';
import { longInterval } from '../../rx/long-timer.ts';

/** What has happened to a page. */
export type Change = 'shown' | 'hidden' | 'left';

/** What the tab uses of its page. */
export interface TabPage {
  isHidden(): boolean;
  /** `left`: the page was closed, or is kept in the back/forward cache. `shown` after each return, also from a freeze. */
  readonly changes$: Observable<Change>;
  /** Emits at the next frame; soon in a page that is hidden, or visible and not painted. */
  frame(): Observable<unknown>;
  /** Calls the listener once nobody holds the Web Lock. Absent where there are no locks. */
  readonly whenFree?: ((lock: string, listener: () => void) => () => void) | undefined;
}

interface Page {
  readonly document?: EventTarget & { readonly visibilityState?: string };
  readonly addEventListener?: EventTarget['addEventListener'];
  readonly navigator?: {
    readonly locks?: {
      request(
        name: string,
        options: { readonly mode: 'shared'; readonly signal: AbortSignal },
        held: () => void,
      ): Promise<unknown>;
    };
  };
  requestAnimationFrame?(callback: () => void): number;
}

/** How long to wait for a frame, in milliseconds. Browsers paint none for a page in an element out of sight. */
const LONGEST_FRAME_MS = 250;

/** The page that this code runs in. */
export function thisPage(scheduler: SchedulerLike = asyncScheduler): TabPage {
  const page = globalThis as Page;
  const { document, navigator } = page;
  const isHidden = () => document?.visibilityState === 'hidden';
  const changes$ = new Observable<Change>((subscriber) => {
    if (document === undefined) return undefined;
    const window = page as EventTarget;
    const on = (target: EventTarget, name: string, change: () => Change) =>
      fromEvent(target, name).pipe(map(change));
    const now = () => (isHidden() ? 'hidden' : 'shown');
    return merge(
      on(document, 'visibilitychange', now),
      on(document, 'resume', now),
      on(window, 'pageshow', now),
      on(document, 'freeze', () => 'hidden'),
      on(window, 'pagehide', () => 'left'),
    ).subscribe(subscriber);
  });
  const frame = () =>
    new Observable<unknown>((subscriber) => {
      const emit = () => subscriber.next(0);
      if (!isHidden()) page.requestAnimationFrame?.(emit);
      return scheduler.schedule(emit, isHidden() ? 0 : LONGEST_FRAME_MS);
    });
  const locks = navigator?.locks;
  const whenFree = (lock: string, listener: () => void) => {
    const left = new AbortController();
    const { signal } = left;
    locks
      ?.request(lock, { mode: 'shared', signal }, () => {
        if (!signal.aborted) listener();
      })
      .catch(() => undefined);
    return () => left.abort();
  };
  return { isHidden, changes$, frame, whenFree: locks && whenFree };
}

/** How often a worker without locks is asked whether it lives, in milliseconds. */
const PING_MS = 5_000;

/** The parts of a {@link WorkerDeath}. */
export interface DeathParts {
  readonly page: TabPage;
  readonly lock: string | undefined;
  readonly scheduler: SchedulerLike;
  /** Asks the worker for a `pong`. */
  ping(): void;
}

/** Notices that a worker has died: its lock is free, or it does not answer. */
export class WorkerDeath {
  readonly #parts: DeathParts;
  readonly #died: () => void;
  #watch = Subscription.EMPTY;
  #unanswered = 0;

  constructor(parts: DeathParts, died: () => void) {
    this.#parts = parts;
    this.#died = died;
  }

  /** Begins again, because the page is shown. */
  start(): void {
    this.stop();
    const { page, lock, scheduler, ping } = this.#parts;
    const watch = new Subscription();
    this.#watch = watch;
    if (lock !== undefined && page.whenFree !== undefined) {
      watch.add(page.whenFree(lock, this.#died));
      return;
    }
    watch.add(
      longInterval(PING_MS, scheduler).subscribe(() => {
        if (this.#unanswered >= 2) return this.#died();
        this.#unanswered++;
        ping();
      }),
    );
  }

  /** The worker has sent something. */
  answered(): void {
    this.#unanswered = 0;
  }

  stop(): void {
    this.#watch.unsubscribe();
    this.#unanswered = 0;
  }
}
