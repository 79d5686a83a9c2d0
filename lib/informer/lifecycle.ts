/**
 * The lifecycle of one informer: counts the holders of its run, and updates the store, the status and the parts when the
 * run begins and ends. Every call is a task of the drain. A run ends completely within one task, so that the next call
 * finds it either running or ended.
 */

import { checkedDuration } from '../checks/checked-option.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { ender } from '../rx/sharing/hub.ts';
import { type Lease, lease } from '../rx/sharing/lease.ts';
import { InformerCore, type InformerSource } from './core.ts';
import { partMakers, type SharedInformerOptions } from './options.ts';
import type { EndOfRun } from './part.ts';
import { createRun } from './run.ts';

/** The informer behind the public interfaces. Nothing runs before it is started or held. */
export class InformerLifecycle<T extends KubernetesObject> extends InformerCore<T> {
  readonly #lease: Lease;
  readonly #lingerMs: number;
  #releaseStart: (() => void) | undefined;
  #isStopped = false;

  constructor(source: InformerSource<T>, options: SharedInformerOptions<T>) {
    super(source, options);
    this.#lingerMs = checkedDuration(options.lingerMs ?? 30_000, `${source.caller}: lingerMs`);
    this.#lease = lease(createRun(this), {
      lingerMs: this.#lingerMs,
      scheduler: this.timing.scheduler,
      drain: this.drain,
      onStart: () => this.#begin(),
      onEnd: (why) => {
        this.#endRun(why === 'linger' ? 'idle' : why === 'ended' ? 'stopped' : 'completed');
        if (why === 'complete') ender(this.listeners)();
      },
    });
    for (const make of partMakers<T>(options, source.caller)) make(this);
  }

  get active(): boolean {
    return this.#lease.active;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  get stopError(): ApiError | undefined {
    return this.#isStopped ? this.#ended('stopped') : undefined;
  }

  leaving(): void {
    this.drain.run(() => this.#emptyIfUnused());
  }

  /**
   * Holds the run, and starts it if no run is in progress. Does nothing if `unwanted()` is true when the drain runs the
   * task. Returns the function that releases the hold.
   */
  hold(unwanted: () => boolean): () => void {
    let release: (() => void) | undefined;
    this.drain.run(() => {
      if (unwanted()) return;
      this.#isStopped = false;
      release = this.#lease.acquire();
    });
    return () => {
      // In the order of the calls: another holder may have come between the hold and its release in one callback.
      this.drain.run(() => {
        if (release === undefined) return;
        release();
        this.#emptyIfUnused();
      });
    };
  }

  /** Keeps the informer running until `stop()`. */
  start(): void {
    this.drain.run(() => {
      this.#isStopped = false;
      this.#releaseStart ??= this.#lease.acquire();
    });
  }

  /**
   * Ends the run and completes the present subscriptions to data. A later subscription belongs to the next run. The
   * streams of the status and the metrics show the next run, too; they complete if the informer is removed.
   */
  stop(isRemoved = false): Promise<void> {
    const complete = ender(this.listeners);
    return new Promise<void>((resolve) => {
      this.drain.run(() => {
        if (this.#lease.active) this.#lease.end();
        else this.#endRun('stopped');
        complete();
        if (isRemoved) this.board.complete();
        resolve();
      });
    });
  }

  remove(): Promise<void> {
    return this.stop(true);
  }

  /**
   * Empties the store of an idle informer without listeners. A handler keeps the store, because the next run reports
   * the difference to it.
   */
  #emptyIfUnused(): void {
    const { store } = this;
    if (this.#lease.active || this.#isStopped || this.listeners.size > 0) return;
    if (store.size === 0 && store.resourceVersion === '') return;
    store.clear();
    this.board.forget();
  }

  #begin(): void {
    this.store.transaction((transaction) =>
      transaction.mark({ synced: false, resourceVersion: '' }),
    );
    this.board.begin();
    this.each((part) => part.begin?.());
  }

  #endRun(why: EndOfRun): void {
    const phase = why === 'idle' ? why : 'stopped';
    this.queue = undefined;
    this.#releaseStart = undefined;
    this.#isStopped = why !== 'idle';
    const error = this.#ended(phase);
    this.each((part) => part.end?.(why, error));
    this.store.refused.clear();
    this.board.end(phase);
    // From now on the copy in the store is stale.
    this.store.transaction((transaction) => transaction.mark({ synced: false }));
    this.#emptyIfUnused();
    this.board.publish();
  }

  #ended(phase: 'idle' | 'stopped'): ApiError {
    const how =
      phase === 'idle'
        ? `became idle, because it had no subscriber for ${this.#lingerMs} ms`
        : 'was stopped';
    return ApiError.local('Stopped', `${this.name} ${how}`);
  }
}
