/**
 * The public interface of a shared informer: streams, the store, handlers, waits and the lifecycle.
 * client-go: tools/cache/shared_informer.go, SharedIndexInformer.
 */

import type { Observable } from 'rxjs';
import type { DeletedObject } from '../delta/net-change.ts';
import type { KubernetesObject, Stored } from '../meta/kubernetes-object.ts';
import type { UpdatedObject } from '../store/change-set.ts';
import type { ChangeStream } from '../store/change-stream.ts';
import type { IndexerReader, StoreReader } from '../store/indexer.ts';
import type { InformerStatus } from './status/status.ts';
import type { ObservedDeletion, SyncWaitOptions, WaitOptions } from './waits.ts';

/**
 * A live, indexed copy of a collection, shared by all its consumers.
 *
 * The first subscription to a data stream starts a run, which lingers after the last subscriber leaves. `start()` keeps
 * the informer running until `stop()`. Handlers, listers and `status$` start nothing. Data streams never error.
 * `stop()` completes the data streams and leaves the store readable. The same streams can be subscribed again and then
 * belong to the next run. `status$` and `synced$` continue with the next run; they complete when a factory removes the
 * informer. `addEventHandler`, `deliver` and `metricsOf` are functions of an informer.
 */
export interface SharedInformer<T extends KubernetesObject, Names extends string = string> {
  readonly name: string;
  /** The store, read-only. */
  readonly indexer: IndexerReader<T, Names>;
  /**
   * Emits the contents of the store as one `reset` set on subscription, then each commit. A set has its deletions
   * first.
   */
  readonly changes$: ChangeStream<T>;
  /**
   * Emits each object of the store on subscription, then each added object. The order between `added$`, `updated$` and
   * `deleted$` is not kept; `changes$` keeps it.
   */
  readonly added$: Observable<Stored<T>>;
  /** Emits each updated object with its previous state. */
  readonly updated$: Observable<UpdatedObject<T>>;
  /** Emits each deleted object with its last known state. */
  readonly deleted$: Observable<DeletedObject<T>>;
  /**
   * Emits a reader of the store on subscription, then one per commit. Every reader shows the current contents of the
   * store, also later, so `pairwise` and `scan` over this stream would compare the store with itself. See
   * {@link StoreReader}.
   */
  readonly snapshot$: Observable<StoreReader<T, Names>>;
  /** Emits the status on subscription, then each transition. Does not start the informer. */
  readonly status$: Observable<InformerStatus>;
  /** Emits `hasSynced` on subscription, then each change of it. Does not start the informer. */
  readonly synced$: Observable<boolean>;
  /** Whether the store has contained a complete list in this run. `false` when the informer is stopped or idle. */
  readonly hasSynced: boolean;
  readonly lastSyncResourceVersion: string;
  readonly isStopped: boolean;
  /** The current status. */
  readonly status: InformerStatus;
  /** Keeps the informer running until `stop()`. Calling it twice is the same as once. */
  start(): void;
  /**
   * Ends the run and completes the present subscriptions to data. Resolves when the run has ended. No callback begins
   * after the call returns. The promise does not wait for a callback that is being awaited, so that a handler may stop its
   * informer. A stop that is called within a callback takes effect after that callback.
   */
  stop(): Promise<void>;
  /**
   * Lists every scope again and reports the difference from the store. While watching, the informer lists immediately,
   * and then watches from the version of the list. In `backoff` it first makes the request that was due, but not before
   * a Retry-After. A list in progress serves the refresh, too. Resolves when the lists of all scopes are in the store.
   * Rejects with the error if a try fails (the informer itself retries), and with reason `Stopped` if the informer is
   * not running or its run ends. Calls share the refresh in progress; the next one begins a second after the beginning
   * of the previous one at the earliest.
   *
   * ```
   * watch       w1--------|    w2---      no watch is open while a list is read
   * refresh()   ----------^
   * list                  ---(l|)
   * store       --a--b-----------(diff)   the promise resolves here
   * ```
   *
   * @example
   * ```ts
   * import { createClient, createListWatch, createSharedInformer } from 'rx-informer';
   * import { pods } from 'rx-informer/resources';
   * import { createFakeApiServer } from 'rx-informer/testing';
   *
   * const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
   * const informer = createSharedInformer(createListWatch(client, pods));
   * informer.start();
   * await informer.whenSynced({ timeoutMs: 5_000 });
   * await informer.refresh();
   * informer.status.relists; // => 1
   * await informer.stop();
   * ```
   */
  refresh(): Promise<void>;
  /**
   * Resolves when the informer is synced. Rejects with the last cause when `timeoutMs` has passed, and with reason
   * `Stopped` when the informer is stopped, was stopped before, or goes idle. On an informer that was not started yet,
   * the promise waits for the start.
   *
   * Rejects immediately with the cause while the server refuses the first list, which `status.blocked` shows; of
   * several scopes one is enough. The informer keeps trying. With `whileBlocked: 'wait'` the promise waits until a try
   * succeeds, because access may be granted or the resource installed later.
   */
  whenSynced(options?: SyncWaitOptions): Promise<void>;
  /**
   * Resolves with the object at `key` once the store shows the result of a write: the version, or the deletion of the
   * object with the UID. A version counts also if the store has reached it without the object: if the object was
   * deleted after the write, the promise resolves with `undefined`. While the object is refused
   * (`status.refusedObjects`), the promise waits until it is accepted.
   * A version of an aggregated server may be another text than a decimal number. Such versions have no order, so the
   * promise resolves only when the store shows that very version: set `timeoutMs`, because a newer one may replace it first.
   * Rejects when `timeoutMs` has passed, when the informer is stopped or goes idle, and with a `TypeError` if the
   * target is no version ('' or '0').
   */
  whenObserved(
    key: string,
    target: string | ObservedDeletion,
    options?: WaitOptions,
  ): Promise<T | undefined>;
  /**
   * Resolves once the store contains every change up to this version, except refused objects. Rejects like
   * `whenObserved`. In a quiet collection the version advances with the bookmarks, about once a minute.
   */
  whenAtLeast(resourceVersion: string, options?: WaitOptions): Promise<void>;
}
