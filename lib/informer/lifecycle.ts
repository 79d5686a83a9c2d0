/**
 * Starts and ends the run of one informer: counts its holders, and updates the store, the status, the handlers
 * and the waits when the run begins and ends. Every call is a task of the drain. A run ends completely within one
 * task, so that the next call finds it either running or ended.
 */
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Lease, lease } from '../rx/lease.ts';
import type { Core } from './core.ts';
import type { InformerPhase } from './status/status.ts';

/** The parts that a {@link Lifecycle} starts and ends. */
export interface LifecycleParts<T extends KubernetesObject>
  extends Pick<
    Core<T>,
    'name' | 'scheduler' | 'drain' | 'indexer' | 'board' | 'meter' | 'run' | 'waits'
  > {
  readonly lingerMs: number;
  readonly hub: Listeners;
  readonly registrations: Handlers;
}

/** The listeners of an informer. */
export interface Listeners {
  readonly size: number;
  /** Returns a function that completes the present listeners. */
  completer(): () => void;
}

/** The handlers of an informer. */
export interface Handlers {
  /** Begins a run. */
  begin(): void;
  /** Ends the run. With `hold`, no handler is called before the next run. */
  end(hold: boolean): void;
  /** Rejects the waits of all handlers. */
  fail(error: ApiError): void;
}

/** Holds, starts and stops the run of one informer. */
export class Lifecycle<T extends KubernetesObject> {
  readonly #parts: LifecycleParts<T>;
  readonly #lease: Lease;
  #releaseStart: (() => void) | undefined;
  #stopped = false;

  constructor(parts: LifecycleParts<T>) {
    this.#parts = parts;
    this.#lease = lease(parts.run.run$, {
      lingerMs: parts.lingerMs,
      scheduler: parts.scheduler,
      drain: parts.drain,
      onStart: () => this.#begin(),
      onEnd: (why) => {
        parts.meter.end();
        if (why === 'linger') this.#goIdle();
        else this.#endRun('stopped');
        if (why === 'complete') this.#finish(parts.hub.completer());
      },
    });
  }

  /** Whether a run is in progress. */
  get active(): boolean {
    return this.#lease.active;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** The error with which a wait on a stopped informer rejects; `undefined` if the informer is not stopped. */
  get stopError(): ApiError | undefined {
    return this.#stopped ? this.#wasStopped() : undefined;
  }

  /**
   * Holds the run, and starts it if no run is in progress. Does nothing if `unwanted()` is true when the drain runs the
   * task. Returns the function that releases the hold.
   */
  hold(unwanted: () => boolean): () => void {
    const { drain } = this.#parts;
    let release: (() => void) | undefined;
    drain.run(() => {
      if (unwanted()) return;
      this.#stopped = false;
      release = this.#lease.acquire();
    });
    return () => {
      // In the order of the calls: another holder may have come between the hold and its release in one callback.
      drain.run(() => {
        if (release === undefined) return;
        release();
        this.emptyIfUnused();
      });
    };
  }

  /** Keeps the informer running until `stop()`. */
  start(): void {
    this.#parts.drain.run(() => {
      this.#stopped = false;
      this.#releaseStart ??= this.#lease.acquire();
    });
  }

  /**
   * Ends the run and completes the present subscriptions to data. A later subscription belongs to the next run. The
   * streams of the status and the metrics show the next run, too; they complete if the informer is removed.
   */
  stop(isRemoved = false): Promise<void> {
    const { hub, board, drain } = this.#parts;
    const complete = hub.completer();
    return new Promise<void>((resolve) => {
      drain.run(() => {
        if (this.#lease.active) this.#lease.end();
        else this.#endRun('stopped');
        this.#finish(complete);
        if (isRemoved) board.complete();
        resolve();
      });
    });
  }

  /**
   * Empties the store of an idle informer without listeners. A handler keeps the store, because the next run reports
   * the difference to it.
   */
  emptyIfUnused(): void {
    const { hub, indexer, board } = this.#parts;
    if (this.#lease.active || this.#stopped || hub.size > 0) return;
    if (indexer.size === 0 && indexer.resourceVersion === '') return;
    indexer.clear();
    board.forget();
  }

  #begin(): void {
    const { indexer, board, meter, registrations } = this.#parts;
    indexer.transaction((transaction) => transaction.mark({ synced: false, resourceVersion: '' }));
    board.begin();
    meter.begin();
    registrations.begin();
  }

  #goIdle(): void {
    const { name, lingerMs, waits, registrations } = this.#parts;
    this.#endRun('idle');
    const message = `${name} became idle, because it had no subscriber for ${lingerMs} ms`;
    const error = ApiError.local('Stopped', message);
    waits.reject(error);
    registrations.fail(error);
  }

  #endRun(phase: Extract<InformerPhase, 'idle' | 'stopped'>): void {
    const { indexer, board, registrations } = this.#parts;
    this.#releaseStart = undefined;
    this.#stopped = phase === 'stopped';
    registrations.end(this.#stopped);
    indexer.refused.clear();
    board.end(phase);
    // From now on the copy in the store is stale.
    indexer.transaction((transaction) => transaction.mark({ synced: false }));
    this.emptyIfUnused();
    board.publish();
  }

  #finish(complete: () => void): void {
    const error = this.#wasStopped();
    this.#parts.waits.reject(error);
    this.#parts.registrations.fail(error);
    complete();
  }

  #wasStopped(): ApiError {
    return ApiError.local('Stopped', `${this.#parts.name} was stopped`);
  }
}
