/** The types of a controller: its options, its status, and the controller itself. controller-runtime: pkg/controller, pkg/builder. */

import type { Observable } from 'rxjs';
import type { LeaderElector } from '../election/leader-elector.ts';
import type { WaitOptions } from '../informer/waits.ts';
import type { ObjectName } from '../meta/key.ts';
import type { KubernetesObject, Stored } from '../meta/kubernetes-object.ts';
import type { Metered } from '../meta/metrics.ts';
import type { Timing } from '../rx/timing.ts';
import type { ShardMember } from '../shards/shard-member.ts';
import type { RateLimiter } from '../work-queue/rate-limiter.ts';
import type { Outcome, ReconcileContext, ReconcileResult } from '../work-queue/reconcile-run.ts';
import type { Predicate } from './predicates.ts';
import type { FilteredSource, MappedSource, WatchedInformer } from './sources.ts';

/** The request that a reconcile receives. */
export interface ReconcileRequest<T extends KubernetesObject> extends ReconcileContext {
  /** The namespace and name from the key. */
  readonly name: ObjectName;
  /** The object in the cache when this reconcile began; `undefined` if it does not exist. Do not change it. */
  readonly object: Stored<T> | undefined;
  /**
   * Why the key was queued since its previous reconcile: `for:added`, `owns:updated`, `watches:deleted`, `for:resync`,
   * `source`, `requeue`, `retry`. Use it for logs only: changes are coalesced, so a reconcile that decides by it misses some.
   */
  readonly reasons: readonly string[];
}

/** Brings the actual state to the state that one object desires. */
export type ReconcileObject<T extends KubernetesObject> = (
  key: string,
  request: ReconcileRequest<T>,
) => ReconcileResult | Promise<ReconcileResult> | Observable<ReconcileResult>;

/** Where an unhandled error occurred. */
export interface ControllerErrorContext {
  readonly controller: string;
  /** `for: foos`, `watches: secrets`, `sources[0]`, `stop` … */
  readonly where: string;
  /** The key of the object that was processed. */
  readonly key?: string | undefined;
}

/** Options of {@link createController}. `O` are the types of the owned objects, `W` those of the other watched objects. */
export interface ControllerOptions<
  T extends KubernetesObject,
  O extends readonly KubernetesObject[] = readonly KubernetesObject[],
  W extends readonly KubernetesObject[] = readonly KubernetesObject[],
> extends Pick<Timing, 'scheduler'> {
  /** The name in errors, status and metrics. @defaultValue 'controller' */
  readonly name?: string | undefined;
  /** The objects that are reconciled. */
  readonly for: WatchedInformer<T> | FilteredSource<T>;
  /** Informers of owned objects. A change of an owned object queues its controlling owner, before and after the change. */
  readonly owns?:
    | { readonly [K in keyof O]: WatchedInformer<O[K]> | FilteredSource<O[K]> }
    | undefined;
  /** Informers of other objects, with a function that maps each change to the keys that it affects. */
  readonly watches?: { readonly [K in keyof W]: MappedSource<W[K]> } | undefined;
  /** Keys from other sources, such as a timer, a webhook or a message queue. If one errors, the controller becomes unhealthy. */
  readonly sources?: readonly Observable<string>[] | undefined;
  /** Predicates for the changes of `for`. A change passes if all of them pass it. */
  readonly predicates?: readonly Predicate<T>[] | undefined;
  readonly reconcile: ReconcileObject<T>;
  /** How many keys are processed at the same time, never one key twice. @defaultValue 1 */
  readonly concurrency?: number | undefined;
  /** How often a failing key is retried before it is given up until its next change. @defaultValue Infinity */
  readonly maxRetries?: number | undefined;
  /** Determines the wait before a retry. @defaultValue 5 ms after the first failure of a key, doubled with each further one, up to 1000 s */
  readonly rateLimiter?: RateLimiter | undefined;
  /** A key that has waited this long, in milliseconds, gets every second turn, whatever its priority. @defaultValue 10000 */
  readonly ageingMs?: number | undefined;
  /**
   * Reconciles only while this process leads; the caches fill before that. Give `() => createLeaderElector({ … })`: the elector that
   * the function creates is started and stopped with the controller. An elector that is passed in must be started by its owner,
   * and stopped after the controller.
   */
  readonly leaderElection?: LeaderElector | (() => LeaderElector) | undefined;
  /**
   * Divides the objects between replicas: each key is reconciled by the one replica that owns its slot. Give the result of
   * `createShardMember`. It joins the ring with the first controller that is started and leaves with the last one that is stopped,
   * unless its owner has started it. Not together with `leaderElection`. See docs/guide/shards.md.
   */
  readonly shards?: ShardMember | undefined;
  /** Measures the reconciles and the queue: `metered(provider)`. @defaultValue not measured */
  readonly metrics?: Metered | undefined;
  /** Called with the errors of predicates, mappings, sources, `metrics` and the tracer of `traced`. @defaultValue errors are reported asynchronously, as rxjs does */
  readonly onUnhandledError?:
    | ((error: unknown, context: ControllerErrorContext) => void)
    | undefined;
}

/**
 * `idle`: never started. `syncing`: a cache is not complete yet. `standby`: another process leads, this one is joining the ring, or a
 * reconcile of an earlier time still runs. `running`: reconciling.
 * `stopping`: waiting for running reconciles.
 */
export type ControllerPhase = 'idle' | 'syncing' | 'standby' | 'running' | 'stopping' | 'stopped';

/** The status of a controller. Emitted on transitions only. */
export interface ControllerStatus {
  readonly phase: ControllerPhase;
  /** Whether every cache is complete. */
  readonly synced: boolean;
  /** Whether this process leads, or takes part in the ring of `shards`. Always true without both. */
  readonly leading: boolean;
  /** Which slots this replica owns, in words; absent without the option `shards`. */
  readonly shards?: string | undefined;
  /** The sources whose cache is not complete yet. */
  readonly waitingFor: readonly string[];
  /** The sources that ended while the controller was running. Their changes no longer reach the controller. */
  readonly ended: readonly string[];
  /**
   * The keys whose reconciles still run although the lead was lost, or a stop has abandoned them. This process does not compete until
   * they have ended.
   */
  readonly unfinished: readonly string[];
}

/** An outcome, with the reasons for which its key was queued. */
export type ControllerOutcome = Outcome & { readonly reasons: readonly string[] };

/** Options of `stop`. */
export interface StopOptions {
  /**
   * How long running reconciles may continue, in milliseconds. Then their signals are aborted. After the same time again they
   * are reported and no longer waited for; a later start reconciles when they have ended. @defaultValue 30000
   */
  readonly drainMs?: number | undefined;
}

/** A controller reconciles objects until it is stopped. It is not client-go's `cache.Controller`. */
export interface Controller {
  readonly name: string;
  /** Emits the outcome of each reconcile. Never errors; completes when the controller has stopped. Subscribing starts nothing. */
  readonly outcomes$: Observable<ControllerOutcome>;
  /** Emits the current status synchronously, then each transition. Completes when the controller has stopped. */
  readonly status$: Observable<ControllerStatus>;
  readonly status: ControllerStatus;
  /**
   * False once a source has ended while the controller runs, and while a reconcile outlasts the lead that it began in. `liveness`
   * answers a probe so, with the reason.
   */
  readonly healthy$: Observable<boolean>;
  /**
   * Whether the controller reconciles: the caches are complete and, with an election, this process leads. For a probe call `readiness`,
   * for which a standby is ready.
   */
  readonly ready$: Observable<boolean>;
  /** The number of keys that wait for a worker. */
  readonly queued: number;
  /** The keys that are being processed. */
  readonly working: readonly string[];
  /**
   * Starts the controller: it fills the caches, competes for the lead if it has an election, then reconciles. Has no effect if it
   * is running. After a stop it starts again; during a stop it starts when that stop is done.
   */
  start(): void;
  /**
   * Stops the controller: accepts no more keys, waits for running reconciles, drops the queued keys, releases the Lease of its
   * own election, and resolves. Informers are unsubscribed, not stopped. A `start` that waits for a stop is cancelled. Rejects
   * only if `drainMs` is not a valid duration, with a `TypeError`.
   */
  stop(options?: StopOptions): Promise<void>;
  /**
   * Resolves when the controller reconciles. When `timeoutMs` has passed, it rejects with an `ApiError` (`NotObserved`) that names
   * the sources that are not synced, and the causes. If the controller is stopped before, it rejects with reason `Stopped`.
   */
  whenReady(options?: WaitOptions): Promise<void>;
}
