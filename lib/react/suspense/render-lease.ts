/**
 * Leases that a suspending hook takes during a render. React may discard that render without a word, so a lease lapses
 * after the linger unless a commit takes it over.
 */
import { asyncScheduler, type SchedulerLike, Subscription } from 'rxjs';
import { longTimer } from '../../rx/long-timer.ts';
import type { ViewSource } from '../row-source.ts';

/** How long a source keeps its answer after its last listener has left. */
export interface Lingering {
  readonly lingerMs: number;
  readonly scheduler: SchedulerLike;
}

/** How long a lease on an answer of a worker waits. */
const IN_WORKER: Lingering = { lingerMs: 30_000, scheduler: asyncScheduler };

/** A linger that is shorter may end before the render that waits for the answer, in milliseconds. */
const SHORTEST_MS = 250;

/**
 * How long the lease waits for the answer if the linger is too short, and keeps it for a render, in milliseconds. React delays the
 * commit by 0.5 s.
 */
const KEPT_MS = 1_000;

/** How long a blocking error is thrown without another try, in milliseconds. React renders again after an error. */
const ERROR_MS = 1_000;

class RenderLease {
  /**
   * Always "pending" for React, so that it begins the render that waited again, with the lease of that moment. A render
   * that it continues would have to wait for the same promise.
   */
  readonly promise: Promise<void>;
  /** Kept, so that the answer is not lost before the render that waits for it. */
  readonly source: ViewSource<unknown>;
  readonly #held = new Subscription();
  readonly #timers = new Subscription();
  readonly #onEnd: () => void;
  #resolve: () => void = () => undefined;
  #isSettled = false;

  constructor(source: ViewSource<unknown>, lingering: Lingering | undefined, onEnd: () => void) {
    const { lingerMs, scheduler } = lingering ?? IN_WORKER;
    // The linger of a tab is not known here.
    const isEnough = lingering !== undefined && lingerMs >= SHORTEST_MS;
    this.source = source;
    this.#onEnd = onEnd;
    const promise = new Promise<void>((resolve) => {
      this.#resolve = resolve;
    });
    this.promise = Object.assign(promise, { status: 'pending' });
    const after = (ms: number, task: () => void) => {
      this.#timers.add(longTimer(ms, scheduler).subscribe(task));
    };
    const end = () => this.end();
    // A render that still waits finds the request in progress, and takes another lease.
    const lapse = () => {
      this.#settle();
      after(KEPT_MS, end);
    };
    after(lingerMs >= SHORTEST_MS ? lingerMs : KEPT_MS, isEnough ? end : lapse);
    const look = () => {
      const { synced, error, status } = source.getSnapshot();
      const isAnswered = synced || error !== undefined || status.phase === 'stopped';
      if (this.#isSettled || !isAnswered) return;
      this.#settle();
      if (!synced) after(ERROR_MS, end);
      // The query lingers from now on.
      if (isEnough) this.#held.unsubscribe();
      else after(KEPT_MS, end);
    };
    // After the render, because a status that includes this source must not change during it.
    queueMicrotask(() => {
      if (this.#held.closed) return;
      this.#held.add(source.subscribe(look));
      // The error of an informer may be that of a former run. That of a worker is up to date.
      if (lingering === undefined || source.getSnapshot().synced) look();
    });
  }

  /** Whether the promise has resolved, so that a render that waited for it would not wait. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  #settle(): void {
    this.#isSettled = true;
    this.#resolve();
  }

  /** Leaves the source. A render that still waits tries again. */
  end(): void {
    this.#timers.unsubscribe();
    this.#held.unsubscribe();
    this.#settle();
    this.#onEnd();
  }
}

/** The leases by view, which is the same one for all attempts to render, also if React discards the provider. */
const leases = /* @__PURE__ */ new WeakMap<object, RenderLease>();

/** Resolves when the source has an answer or an error, or when the lease has lapsed: the same promise until then. */
export function leaseForRender(source: ViewSource<unknown>, lingering?: Lingering): Promise<void> {
  const { view } = source;
  const known = leases.get(view);
  if (known?.isSettled === false) return known.promise;
  known?.end();
  const lease: RenderLease = new RenderLease(source, lingering, () => {
    if (leases.get(view) === lease) leases.delete(view);
  });
  leases.set(view, lease);
  return lease.promise;
}

/** Whether a render has taken a lease on the source that has not ended. */
export function hasRenderLease({ view }: ViewSource<unknown>): boolean {
  return leases.has(view);
}

/** Ends the lease on a source, because a commit has subscribed. */
export function takeOver({ view }: ViewSource<unknown>): void {
  leases.get(view)?.end();
}
