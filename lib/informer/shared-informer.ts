/**
 * What everyone sees of an informer: streams to subscribe to, a store to read, handlers, and waits.
 * client-go: tools/cache/shared_informer.go, SharedIndexInformer.
 */
import type { Observable } from 'rxjs';
import type { DeletedObject } from '../delta/net-change.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { UpdatedObject } from '../store/change-set.ts';
import type { ChangeStream } from '../store/change-stream.ts';
import type { IndexerReader, Snapshot } from '../store/indexer.ts';
import type { Delivery, DeliveryPolicy } from './delivery.ts';
import type {
  EventHandlerOptions,
  EventHandlerRegistration,
  ResourceEventHandler,
} from './event-handler.ts';
import type { InformerStatus } from './status.ts';
import type { ObservedDeletion, WaitOptions } from './waits.ts';

/**
 * A live, indexed copy of a collection, shared by all who look at it.
 *
 * Subscribing to a data stream starts the run and holds it; it lingers after the last subscriber. `start()` pins
 * it. Handlers, listers and `status$` do not start it. Data streams never error. `stop()` completes all streams
 * and leaves the store readable; the same streams can be subscribed again and belong to a new generation.
 */
export interface SharedInformer<T extends KubernetesObject> {
  readonly name: string;
  /** The store, to read. */
  readonly indexer: IndexerReader<T>;
  /** The state as one `reset` set at once, then each commit. Deletions first, order kept. */
  readonly changes$: ChangeStream<T>;
  /** Each object of the store at once, then each new one. Between the three, order is lost. */
  readonly added$: Observable<T>;
  readonly updated$: Observable<UpdatedObject<T>>;
  readonly deleted$: Observable<DeletedObject<T>>;
  /** The newest snapshot at once, then one a commit. */
  readonly snapshot$: Observable<Snapshot<T>>;
  /** The status at once, then each transition. Does not start the informer. */
  readonly status$: Observable<InformerStatus>;
  /** Whether the store has held a whole list, at once and on change. Does not start the informer. */
  readonly synced$: Observable<boolean>;
  readonly hasSynced: boolean;
  readonly lastSyncResourceVersion: string;
  readonly isStopped: boolean;
  /** The latest status. */
  readonly status: InformerStatus;
  /** Change sets under a policy, for a subscriber that may be slow. */
  deliver(policy: DeliveryPolicy<T>): Delivery<T>;
  addEventHandler(
    handler: ResourceEventHandler<T>,
    options?: EventHandlerOptions,
  ): EventHandlerRegistration;
  /** Nothing is delivered after it returns. A registration of another informer, or a removed one, does nothing. */
  removeEventHandler(registration: EventHandlerRegistration): void;
  /** Pins the run. Twice is once. */
  start(): void;
  /** Ends the run. Resolves when nothing of it is left to do. */
  stop(): Promise<void>;
  /** Resolves when synced; rejects with the last cause when `timeoutMs` are over, or when stopped. */
  whenSynced(options?: WaitOptions): Promise<void>;
  /** Resolves once the store shows what a write returned: this version, or that this object is gone. */
  whenObserved(
    key: string,
    target: string | ObservedDeletion,
    options?: WaitOptions,
  ): Promise<T | undefined>;
}
