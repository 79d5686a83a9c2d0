/**
 * Leases that a suspending hook takes during a render. React may discard that render without a word, so a lease lapses
 * after the linger unless a commit takes it over.
 */
import { Subscription } from 'rxjs';
import { longTimer } from '../rx/long-timer.ts';
import type { Provided } from './provided.ts';
import type { ViewSource } from './row-source.ts';

/** A linger that is shorter may end before the render that waits for the answer, in milliseconds. */
const SHORTEST_MS = 250;

/**
 * How long the lease waits for the answer, and then for a render, if the linger is too short, in milliseconds. React
 * delays the commit by 0.5 s.
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

  constructor(provided: Provided, source: ViewSource<unknown>, onEnd: () => void) {
    const { lingerMs, scheduler } = provided.informers;
    const isEnough = lingerMs >= SHORTEST_MS;
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
    after(isEnough ? lingerMs : KEPT_MS, isEnough ? end : lapse);
    const look = () => {
      const { synced, error } = source.getSnapshot();
      if (!synced && error === undefined) return;
      this.#settle();
      if (!synced) after(ERROR_MS, end);
      // The query lingers from now on.
      if (isEnough) this.#held.unsubscribe();
    };
    // After the render, because a status that includes this source must not change during it.
    queueMicrotask(() => {
      if (this.#held.closed) return;
      this.#held.add(source.subscribe(look));
      if (source.getSnapshot().synced) look();
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

/** The leases of a provider by query, as a part of it. */
const leasesOf = (_provided: Provided): Map<string, RenderLease> => new Map();

/** Resolves when the source has an answer or an error, or when the lease has lapsed: the same promise until then. */
export function leaseForRender(
  provided: Provided,
  key: string,
  source: ViewSource<unknown>,
): Promise<void> {
  const all = provided.part(leasesOf);
  const known = all.get(key);
  if (known?.source === source && !known.isSettled) return known.promise;
  known?.end();
  const lease: RenderLease = new RenderLease(provided, source, () => {
    if (all.get(key) === lease) all.delete(key);
  });
  all.set(key, lease);
  return lease.promise;
}

/** Whether a render has taken a lease on the query that has not ended. */
export function hasRenderLease(provided: Provided, key: string): boolean {
  return provided.part(leasesOf).has(key);
}

/** Ends the lease on a query, because a commit has subscribed. */
export function takeOver(provided: Provided, key: string): void {
  provided.part(leasesOf).get(key)?.end();
}
