/**
 * The parts of an informer: waits, refreshes, handlers, metrics, audits. A part joins one informer through its port, at
 * the creation of the informer or later. A bundle contains only the parts that its program imports.
 */
import { refusal } from '../checks/checked-option.ts';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import type { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { MetricAttributes } from '../meta/metrics.ts';
import type { Delta } from '../reflector/delta.ts';
import type { RefreshOrder } from '../reflector/reflect-options.ts';
import type { reflect } from '../reflector/reflector.ts';
import type { ReflectorStatus } from '../reflector/status.ts';
import type { Drain } from '../rx/drain.ts';
import type { ResolvedTiming } from '../rx/timing.ts';
import type { Indexer } from '../store/indexer.ts';
import type { Listener } from './listener.ts';
import type { Reporter } from './status/reporter.ts';
import type { StatusBoard } from './status/status-board.ts';

/**
 * Why a run ended: its linger has passed (`idle`), it was stopped, or all its reflectors have completed. Also `stopped`
 * if an informer is stopped that is not running.
 */
export type EndOfRun = 'idle' | 'stopped' | 'completed';

/**
 * The calls that a part receives, each as a task of the informer's drain. `at` is the index of a ListerWatcher in the
 * last `sources`.
 */
export interface InformerPart<T extends KubernetesObject> {
  /** A run begins. */
  begin?(): void;
  /** The ListerWatchers of the run are known, or have changed within the run. */
  sources?(of: readonly ListerWatcher<T>[]): void;
  /** The status of a reflector has changed. */
  status?(at: number, status: ReflectorStatus): void;
  /** A reflector has emitted deltas. They wait for their commit. */
  received?(at: number, deltas: readonly Delta<T>[]): void;
  /** A reflector has emitted an ordered list completely, or the order has failed. */
  answered?(at: number, error: ApiError | undefined): void;
  /** A reflector has completed, because `onError` returned `'stop'`. */
  ended?(at: number): void;
  /** The store has committed these deltas, and the subscribers have received the change set. */
  committed?(deltas: readonly Delta<T>[]): void;
  /** Calls `batch` once, which makes one or more commits of `deltas` and calls the subscribers and the handlers. */
  around?(batch: () => void, deltas: readonly Delta<T>[]): void;
  /** The status has changed, and its subscribers have received it. Returns whether a wait was rejected. */
  transition?(): boolean;
  /** How many changes wait for the handlers of this part. */
  waiting?(): number;
  /** The changes that waited for a handler have been delivered. */
  caughtUp?(): void;
  /** The run has ended. The error says why, for the waits of this part. */
  end?(why: EndOfRun, error: ApiError): void;
}

/** The side of one informer that its parts use. `join`, `order` and `retryRefused` must be called in the drain. */
export interface InformerPort<T extends KubernetesObject> extends Reporter {
  readonly name: string;
  readonly timing: ResolvedTiming;
  readonly drain: Drain;
  readonly store: Indexer<T>;
  readonly board: Pick<
    StatusBoard<T>,
    'status' | 'access' | 'quiet$' | 'audit' | 'publish' | 'notSynced' | 'notObserved' | 'blocking'
  >;
  /** Whether the informer holds only some shards of its collection. */
  readonly partial: boolean;
  /** How the informer follows a ListerWatcher. A part may replace it before the first run. */
  readonly source: { reflector?: typeof reflect<T> | undefined };
  /** The ListerWatchers of the run, or those with which the informer was created. */
  readonly sources: readonly ListerWatcher<T>[];
  /** Whether a run is in progress. */
  readonly active: boolean;
  /** The error with which a wait on a stopped informer rejects; `undefined` if the informer is not stopped. */
  readonly stopError: ApiError | undefined;
  /** The resync period of the informer in milliseconds; 0 means never. */
  readonly resyncMs: number;
  readonly requestTimeoutMs: number;
  /** The attributes of the metrics beside the name. */
  readonly metricAttributes: MetricAttributes | undefined;
  /** How many deltas wait for their commit. */
  readonly queueLength: number;
  /** How many changes wait for handlers. */
  readonly waiting: number;
  /** Returns the part of this kind, and makes it if the informer has none. */
  attach<P extends InformerPart<T>>(kind: unknown, make: () => P): P;
  /** Passes the contents of the store and all later change sets to the listener, until the returned function is called. */
  join(listener: Listener<T>): () => void;
  /** Says that a listener has left, so that the store of an idle informer is emptied if nobody needs it. */
  leaving(): void;
  /** Requests a list from the reflector of this ListerWatcher. */
  order(at: number, order: RefreshOrder): void;
  /** Pauses reading. Call the returned function to resume. */
  pause(): () => void;
  /** Tries all refused objects again. */
  retryRefused(): void;
  /** Says that the changes that waited for a handler have been delivered. */
  caughtUp(): void;
  /** Stops the informer and completes its streams, also those of the status and the metrics. */
  remove(): Promise<void>;
}

/**
 * A part of an informer that is passed in as an option, made by `audit()`, `metered()` or `snapshotsIn()`. One maker serves any number
 * of informers, for example those of a factory: each gets a part of its own.
 */
export type InformerPartMaker = (port: never) => void;

const PORT = /* @__PURE__ */ Symbol('port');

/** Adds the port to an informer. Returns the informer. */
export function withPort<I extends object, T extends KubernetesObject>(
  informer: I,
  port: InformerPort<T>,
): I {
  return Object.assign(informer, { [PORT]: port });
}

/** The port of an informer. Throws a `TypeError` that names the caller if `informer` is not an informer. */
export function portOf<T extends KubernetesObject>(
  informer: object,
  caller: string,
): InformerPort<T> {
  const port = (informer as { readonly [PORT]?: InformerPort<T> } | undefined)?.[PORT];
  if (port !== undefined) return port;
  const must =
    'an informer that createSharedInformer, createInformer or the informer() of a factory returned';
  throw refusal(`${caller}: the first argument`, informer, must);
}
