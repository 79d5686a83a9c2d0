/**
 * What everyone sees of an informer: streams to subscribe to, a store to read, handlers, and waits.
 * client-go: tools/cache/shared_informer.go, SharedIndexInformer.
 */

import type { Observable } from 'rxjs';
import type { DeletedObject } from '../delta/net-change.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Stored } from '../meta/stored.ts';
import type { UpdatedObject } from '../store/change-set.ts';
import type { ChangeStream } from '../store/change-stream.ts';
import type { IndexerReader, StoreReader } from '../store/indexer.ts';
import type { Delivery, DeliveryPolicy } from './handlers/delivery.ts';
import type {
  EventHandlerOptions,
  EventHandlerRegistration,
  RemoveOptions,
  ResourceEventHandler,
} from './handlers/event-handler.ts';
import type { InformerMetrics } from './status/informer-metrics.ts';
import type { InformerStatus } from './status/status.ts';
import type { ObservedDeletion, SyncWaitOptions, WaitOptions } from './waits.ts';

/**
 * A live, indexed copy of a collection, shared by all who look at it.
 *
 * Subscribing to a data stream starts the run and holds it; it lingers after the last subscriber. `start()` pins
 * it. Handlers, listers and `status$` do not start it. Data streams never error. `stop()` completes all streams
 * and leaves the store readable; the same streams can be subscribed again and belong to a new generation.
 */
export interface SharedInformer<T extends KubernetesObject, Names extends string = string> {
  readonly name: string;
  /** The store, to read. */
  readonly indexer: IndexerReader<T, Names>;
  /** The state as one `reset` set at once, then each commit. Deletions first, order kept. */
  readonly changes$: ChangeStream<T>;
  /** Each object of the store at once, then each new one. Between the three, order is lost. */
  readonly added$: Observable<Stored<T>>;
  readonly updated$: Observable<UpdatedObject<T>>;
  readonly deleted$: Observable<DeletedObject<T>>;
  /**
   * A living reader of the store on subscription, then one per commit. Each of them reads the present state, also later,
   * so `pairwise` and `scan` over it compare the store with itself: see {@link StoreReader}.
   */
  readonly snapshot$: Observable<StoreReader<T, Names>>;
  /** The status at once, then each transition. Does not start the informer. */
  readonly status$: Observable<InformerStatus>;
  /** Whether the running informer's store has held a complete list: the value now, then each change. Does not start the informer. */
  readonly synced$: Observable<boolean>;
  /** Whether the running informer's store has held a complete list. `false` once the informer is stopped or idle. */
  readonly hasSynced: boolean;
  readonly lastSyncResourceVersion: string;
  readonly isStopped: boolean;
  /** The latest status. */
  readonly status: InformerStatus;
  /** Change sets under a policy, for a subscriber that may be slow. */
  deliver(policy: DeliveryPolicy<T>): Delivery<T>;
  /** What it holds, does and owes: at once, with each commit and each transition. Does not start the informer. */
  readonly metrics$: Observable<InformerMetrics>;
  /**
   * Calls `handler` for every object of the store, then for each change. It starts nothing.
   *
   * A callback that answers a promise is awaited before the next one of this registration; what comes meanwhile waits
   * under `delivery`. Other callbacks run in the commit that brought the change. One handler may be registered many
   * times. After a stop what waits is kept, no callback begins, and the next run tells the difference. Throws a
   * `TypeError` on a period or limit that is none. client-go: SharedInformer.AddEventHandlerWithOptions.
   *
   * ```
   * commits   a----b-c-c'--d      onAdd takes 4
   * onAdd     a---|b---|c'--|d    c and c' are folded
   * ```
   *
   * @example
   * ```ts
   * import { createClient, createListWatch, createSharedInformer } from 'rx-informer';
   * import { pods } from 'rx-informer/resources';
   * import { createFakeApiServer } from 'rx-informer/testing';
   *
   * const server = createFakeApiServer();
   * server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
   * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
   * const informer = createSharedInformer(createListWatch(client, pods));
   * const log: string[] = [];
   * const registration = informer.addEventHandler({
   *   onAdd: async (_pod, { key, cause }) => {
   *     await Promise.resolve(); // the next callback comes after this one
   *     log.push(`${key} ${cause}`);
   *   },
   * });
   * informer.start();
   * await registration.whenSynced({ timeoutMs: 5_000 });
   * log; // => ['shop/web-0 initial']
   * await informer.removeEventHandler(registration, { pending: 'drain' });
   * await informer.stop();
   * ```
   */
  addEventHandler(
    handler: ResourceEventHandler<T>,
    options?: EventHandlerOptions<T>,
  ): EventHandlerRegistration;
  /**
   * No further change reaches the handler. With `drop`, the default, nothing is delivered after it returns; with
   * `drain` what waits still is. The promise resolves when nothing of the handler runs any more: the callback under
   * way has returned or settled, and what was to be drained is.
   *
   * Called by the handler itself it resolves at once, since the callback would wait for itself; after an `await` in
   * the callback pass its notification as `within`, or do not await it. A registration of another informer does
   * nothing, nor does a removed one, whose promise is the same. client-go: ShutDownEventHandler.
   */
  removeEventHandler(
    registration: EventHandlerRegistration,
    options?: RemoveOptions,
  ): Promise<void>;
  /** Pins the run. Twice is once. */
  start(): void;
  /**
   * Ends the run and completes the streams of those who are subscribed now. Resolves when nothing of the run is left
   * to do. No callback begins after it returns. A callback that is being awaited is not waited for, so that a handler
   * may stop its informer. A stop that is called within a callback takes effect after that callback.
   */
  stop(): Promise<void>;
  /**
   * Lists anew, and tells what differs from the store. Watching, it lists at once and watches from there; in `backoff` it
   * does at once what was due, though not before a server's Retry-After, and lists then; a list that is under way serves,
   * too. Resolves when the lists of all scopes are in the store. Rejects when a try fails, with its error (the informer
   * goes on by itself), and with reason `Stopped` when the informer is not running or its run ends. Calls share the
   * refresh that is under way; the next one begins a second after it at the earliest.
   *
   * ```
   * watch       w1--------|    w2---      while a list is read, no watch is open
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
   * Resolves when the informer is synced. Rejects with the last cause when `timeoutMs` are over, and with reason
   * `Stopped` when the informer is stopped, is stopped already, or goes idle. On an informer that has not been started
   * it waits for the start.
   *
   * Rejects immediately with the cause while the server refuses the first list: `status.blocked` is set, in one of the
   * scopes if there are several. The informer keeps trying all the same; with `whileBlocked: 'wait'` the promise waits
   * for that, because somebody may grant the access or install the resource.
   */
  whenSynced(options?: SyncWaitOptions): Promise<void>;
  /**
   * Resolves once the store shows what a write returned: this version, or that this object is gone. An object that is
   * refused (`status.quarantine`) is waited for until it is let in. Rejects when its time is over, when stopped, and
   * with a `TypeError` for what is no version.
   */
  whenObserved(
    key: string,
    target: string | ObservedDeletion,
    options?: WaitOptions,
  ): Promise<T | undefined>;
  /**
   * Resolves once all that happened up to this version is in the store, or refused: a list that is not older. Rejects as
   * `whenObserved` does. In a quiet collection bookmarks bring the version, about once a minute.
   */
  whenAtLeast(resourceVersion: string, options?: WaitOptions): Promise<void>;
}
