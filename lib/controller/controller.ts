/** What a controller takes, is, and says of itself. controller-runtime: pkg/controller, pkg/builder. */

import type { Observable } from 'rxjs';
import type { WaitOptions } from '../informer/waits.ts';
import type { ObjectName } from '../meta/key.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { MetricsProvider } from '../meta/metrics.ts';
import type { Stored } from '../meta/stored.ts';
import type { Timing } from '../rx/timing.ts';
import type { Outcome, ReconcileContext, ReconcileResult } from '../work-queue/outcome.ts';
import type { RateLimiter } from '../work-queue/rate-limiter.ts';
import type { LeaderElector, LeaderElectorOptions } from './election/leader-elector.ts';
import type { Predicate } from './predicates.ts';
import type { FilteredSource, MappedSource, WatchedInformer } from './sources.ts';

/** What a reconcile is told. */
export interface ReconcileRequest<T extends KubernetesObject> extends ReconcileContext {
  /** The key taken apart. */
  readonly name: ObjectName;
  /** From the cache, at the start of this reconcile; `undefined` when it is gone. Do not change it. */
  readonly object: Stored<T> | undefined;
  /**
   * What woke it since the reconcile before: `for:added`, `owns:updated`, `watches:deleted`, `for:resync`,
   * `source`, `requeue`, `retry`. For the log: a reconcile that decides by it will miss something.
   */
  readonly reasons: readonly string[];
}

/** Makes the world as one object wants it. */
export type ReconcileObject<T extends KubernetesObject> = (
  key: string,
  request: ReconcileRequest<T>,
) => ReconcileResult | Promise<ReconcileResult> | Observable<ReconcileResult>;

/** Where an error came from that reached nobody else. */
export interface ControllerErrorContext {
  readonly controller: string;
  /** `for: foos`, `watches: secrets`, `sources[0]`, `stop` … */
  readonly where: string;
  /** The object at hand. */
  readonly key?: string;
}

/** What {@link createController} takes. `O` are the types of what is owned, `W` of what is watched besides. */
export interface ControllerOptions<
  T extends KubernetesObject,
  O extends readonly KubernetesObject[] = readonly KubernetesObject[],
  W extends readonly KubernetesObject[] = readonly KubernetesObject[],
> extends Pick<Timing, 'scheduler'> {
  /** Stands in errors, status and metrics. @defaultValue 'controller' */
  readonly name?: string | undefined;
  /** The objects that are reconciled. */
  readonly for: WatchedInformer<T> | FilteredSource<T>;
  /** What they own: a change of an object wakes the one that controls it, before and now. */
  readonly owns?:
    | { readonly [K in keyof O]: WatchedInformer<O[K]> | FilteredSource<O[K]> }
    | undefined;
  /** What else concerns them. */
  readonly watches?: { readonly [K in keyof W]: MappedSource<W[K]> } | undefined;
  /** Keys from anywhere: a timer, a webhook, a message queue. One that errors makes the controller unhealthy. */
  readonly sources?: readonly Observable<string>[] | undefined;
  /** Over the changes of `for`; all must pass. */
  readonly predicates?: readonly Predicate<T>[] | undefined;
  readonly reconcile: ReconcileObject<T>;
  /** How many keys are worked on at once, never one key twice. @defaultValue 1 */
  readonly concurrency?: number | undefined;
  /** How often a failing key is tried again before it is given up until its next change. @defaultValue Infinity */
  readonly maxRetries?: number | undefined;
  /** @defaultValue that of the priority queue */
  readonly rateLimiter?: RateLimiter | undefined;
  /** A key that has waited for this long, in milliseconds, gets every second turn, even if newer keys wait. @defaultValue 10000 */
  readonly ageingMs?: number | undefined;
  /**
   * Reconciles only while it leads; caches are warm before. Options make an elector that starts and stops with
   * the controller; one that is passed is for who made it to start, and to stop after the controller.
   */
  readonly leaderElection?: LeaderElector | LeaderElectorOptions | undefined;
  readonly metrics?: MetricsProvider | undefined;
  /** Errors of predicates, mappings and sources. @defaultValue as rxjs's own: reported asynchronously */
  readonly onUnhandledError?:
    | ((error: unknown, context: ControllerErrorContext) => void)
    | undefined;
}

/**
 * `idle`: never started. `syncing`: caches are not whole. `standby`: another one leads. `running`: at work.
 * `stopping`: finishes what is running.
 */
export type ControllerPhase = 'idle' | 'syncing' | 'standby' | 'running' | 'stopping' | 'stopped';

/** What a controller is doing. Emitted on transitions only. */
export interface ControllerStatus {
  readonly phase: ControllerPhase;
  /** Every cache is whole. */
  readonly synced: boolean;
  /** Always true without leader election. */
  readonly leading: boolean;
  /** Sources whose cache is not whole. */
  readonly waitingFor: readonly string[];
  /** Sources that ended while they were needed: nobody wakes the controller for them any more. */
  readonly ended: readonly string[];
}

/** An outcome, and what had woken the key. */
export type ControllerOutcome = Outcome & { readonly reasons: readonly string[] };

/** How a controller is stopped. */
export interface StopOptions {
  /**
   * So long may running reconciles go on; then their signals are aborted, and after as long again they are
   * abandoned and reported. In milliseconds. @defaultValue 30000
   */
  readonly drainMs?: number | undefined;
}

/** A controller that keeps the world as its objects want it. Not client-go's `cache.Controller`. */
export interface Controller {
  readonly name: string;
  /** Each reconcile's end. Never errors; completes when the controller has stopped. Starts nothing. */
  readonly outcomes$: Observable<ControllerOutcome>;
  /** The status at once, then each transition; completes when the controller has stopped. */
  readonly status$: Observable<ControllerStatus>;
  readonly status: ControllerStatus;
  /** For a liveness probe: no source has ended in silence. */
  readonly healthy$: Observable<boolean>;
  /** For a readiness probe: at work, that is caches are whole and, with an election, it leads. */
  readonly ready$: Observable<boolean>;
  /** Keys that wait for a worker. */
  readonly queued: number;
  /** Keys that are worked on. */
  readonly working: readonly string[];
  /**
   * Begins: caches first, then the election, then work. Twice is once; after `stop` it begins anew, and while it stops
   * once that is done.
   */
  start(): void;
  /**
   * Takes in nothing more, lets running reconciles finish, gives up the lease if it holds one, and resolves. What
   * was queued is dropped. Informers are let go of, as by any subscriber, not stopped. A `start` that waits for a stop is
   * taken back. Never rejects.
   */
  stop(options?: StopOptions): Promise<void>;
  /**
   * Resolves when it is at work. Rejects with an `ApiError` (`NotObserved`) that names who is missing and why when
   * `timeoutMs` are over, and (`Stopped`) when it is stopped before.
   */
  whenReady(options?: WaitOptions): Promise<void>;
}
