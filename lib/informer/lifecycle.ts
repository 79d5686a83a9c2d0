/**
 * The life of one shared informer: who holds the run, and what its beginning and its end mean for the store, the
 * status, the handlers and the waits. Every call passes the drain, and an end is complete when its task ends, so the
 * next call finds an informer that either runs or rests.
 */
import type { Observable, SchedulerLike } from 'rxjs';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Drain } from '../rx/drain.ts';
import { type Lease, lease } from '../rx/lease.ts';
import type { Indexer } from '../store/indexer.ts';
import type { Quarantine } from '../store/quarantine.ts';
import type { FanOut } from './fan-out.ts';
import type { Registrations } from './handlers/registrations.ts';
import type { InformerMeter } from './status/informer-metrics.ts';
import type { InformerPhase } from './status/status.ts';
import type { StatusBoard } from './status/status-board.ts';
import type { Waits } from './waits.ts';

/** What a {@link Lifecycle} starts and ends. */
export interface LifecycleParts<T extends KubernetesObject> {
  readonly name: string;
  readonly run$: Observable<never>;
  readonly lingerMs: number;
  readonly scheduler: SchedulerLike;
  readonly drain: Drain;
  readonly indexer: Indexer<T>;
  readonly hub: FanOut<T>;
  readonly board: StatusBoard<T>;
  readonly meter: InformerMeter;
  readonly quarantine: Quarantine;
  readonly registrations: Registrations<T>;
  readonly waits: Waits;
}

/** Holds, starts and stops one informer's run. */
export class Lifecycle<T extends KubernetesObject> {
  readonly #parts: LifecycleParts<T>;
  readonly #line: Lease;
  #pin: (() => void) | undefined;
  #stopped = false;

  constructor(parts: LifecycleParts<T>) {
    this.#parts = parts;
    this.#line = lease(parts.run$, {
      lingerMs: parts.lingerMs,
      scheduler: parts.scheduler,
      drain: parts.drain,
      onStart: () => this.#begin(),
      onEnd: (why) => {
        parts.meter.end();
        if (why === 'linger') this.#goIdle();
        else this.#rest('stopped');
        if (why === 'complete') this.#finish(this.#leaving());
      },
    });
  }

  /** Whether a run is alive. */
  get active(): boolean {
    return this.#line.active;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** Why a wait that begins now is in vain; `undefined` if the informer runs or was not stopped. */
  get over(): ApiError | undefined {
    return this.#stopped ? this.#wasStopped() : undefined;
  }

  /**
   * Holds the run, starting it if need be; not if it is `unwanted` when its turn comes. Returns the function that lets
   * go.
   */
  hold(unwanted: () => boolean): () => void {
    const { drain } = this.#parts;
    let released = false;
    let release: (() => void) | undefined;
    const letGo = () => {
      release?.();
      this.forget();
    };
    drain.run(() => {
      if (unwanted()) return;
      this.#stopped = false;
      release = this.#line.acquire();
      // The holder left before its turn, or while the run started: as anywhere, the run lingers.
      if (released) letGo();
    });
    return () => {
      released = true;
      if (release !== undefined) drain.run(letGo);
    };
  }

  /** Pins the run. */
  start(): void {
    this.#parts.drain.run(() => {
      this.#stopped = false;
      this.#pin ??= this.#line.acquire();
    });
  }

  /** Ends the run, and completes those who are subscribed now: who subscribes later belongs to the next run. */
  stop(): Promise<void> {
    const leaving = this.#leaving();
    return new Promise<void>((resolve) => {
      this.#parts.drain.run(() => {
        if (this.#line.active) this.#line.end();
        else this.#rest('stopped');
        this.#finish(leaving);
        resolve();
      });
    });
  }

  /** Empties the store of an idle informer that nobody looks at. Others need it to be told the difference. */
  forget(): void {
    const { hub, indexer, board } = this.#parts;
    if (this.#line.active || this.#stopped || hub.size > 0) return;
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
    this.#rest('idle');
    const message = `${name} became idle, because it had no subscriber for ${lingerMs} ms`;
    const error = ApiError.local('Stopped', message);
    waits.reject(error);
    registrations.fail(error);
  }

  #rest(phase: Extract<InformerPhase, 'idle' | 'stopped'>): void {
    const { indexer, board, quarantine, registrations } = this.#parts;
    this.#pin = undefined;
    this.#stopped = phase === 'stopped';
    registrations.rest(this.#stopped);
    quarantine.clear();
    board.end(phase);
    // The copy ages from now on.
    indexer.transaction((transaction) => transaction.mark({ synced: false }));
    this.forget();
    board.publish();
  }

  #leaving(): readonly (() => void)[] {
    return [this.#parts.hub.leaving(), this.#parts.board.leaving()];
  }

  #finish(leaving: readonly (() => void)[]): void {
    const error = this.#wasStopped();
    this.#parts.waits.reject(error);
    this.#parts.registrations.fail(error);
    for (const complete of leaving) complete();
  }

  #wasStopped(): ApiError {
    return ApiError.local('Stopped', `${this.#parts.name} was stopped`);
  }
}
