/** The interface of informer factories. client-go: informers/factory.go, SharedInformerFactory. */
import type { Observable } from 'rxjs';
import type { PartialObjectMetadata, TableColumn, TableRow } from '../decode/projection.ts';
import type { SharedInformer } from '../informer/shared-informer.ts';
import type { SyncWaitOptions } from '../informer/waits.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import type { Lister } from './lister.ts';
import type { InformerScope } from './scope.ts';

/** An informer of table rows, with the columns of their cells. */
export interface TableInformer extends SharedInformer<TableRow> {
  /** Emits the columns synchronously if the server has sent them, then each change of them. Does not start the informer. */
  readonly columns$: Observable<readonly TableColumn[]>;
}

/** A hold on an informer. While an informer is held, it runs with its factory. */
export interface InformerHandle<
  T extends KubernetesObject,
  I extends SharedInformer<T> = SharedInformer<T>,
> {
  readonly informer: I;
  readonly lister: Lister<T>;
  /**
   * Releases the hold; further calls have no effect. When the last hold is released, a running informer lingers, whether the
   * factory or a subscriber keeps it running. Then it is stopped and removed from the factory, and all of its streams complete. Do not
   * use the informer after this call.
   */
  release(): void;
}

type ScopeAs<K extends 'object' | 'metadata' | 'table'> = InformerScope & { readonly as: K };
type ObjectScope = InformerScope & { readonly as?: 'object' };

/** Starts, stops and awaits the informers of a factory. */
export interface FactoryLife {
  /** The prefix of the names of its informers; '' if there is none. */
  readonly name: string;
  /** The names of its informers, in the order in which they were requested. */
  readonly informers: readonly string[];
  /**
   * Starts all informers, including those that were stopped separately. From now on each informer starts when it is requested. A
   * running informer is not affected. After `stop()` the same informers start again.
   */
  start(): void;
  /**
   * Resolves when all requested informers are synced. Rejects with a `NotSyncedError` that names the informers that are not synced,
   * and the causes, when `timeoutMs` has passed, or immediately when one of them is stopped. An informer that fails does not delay
   * the others; to wait for one informer, use its own `whenSynced`.
   *
   * If the server refuses one of them (`status.blocked`), it rejects as soon as the server has answered for each of the others, so
   * that the error names all causes. With `whileBlocked: 'wait'` it waits, because the informers keep trying.
   */
  whenSynced(options?: SyncWaitOptions): Promise<void>;
}

/**
 * The informers of one client: one per resource, scope and projection, however often it is requested.
 *
 * `informer` and `lister` request an informer for the life of the factory; `acquire` requests it until its handle is released.
 * Nothing is sent before `start()`, or before the data of an informer is subscribed.
 */
export interface InformerFactory extends FactoryLife {
  /** Returns the informer of a scope. Throws a `TypeError` if the scope is impossible. */
  informer<T extends KubernetesObject>(
    resource: Resource<T>,
    scope?: ObjectScope,
  ): SharedInformer<T>;
  informer(
    resource: Resource<KubernetesObject>,
    scope: ScopeAs<'metadata'>,
  ): SharedInformer<PartialObjectMetadata>;
  informer(resource: Resource<KubernetesObject>, scope: ScopeAs<'table'>): TableInformer;
  /** Returns a lister over the informer of a scope, and requests that informer. */
  lister<T extends KubernetesObject>(resource: Resource<T>, scope?: ObjectScope): Lister<T>;
  lister(
    resource: Resource<KubernetesObject>,
    scope: ScopeAs<'metadata'>,
  ): Lister<PartialObjectMetadata>;
  lister(resource: Resource<KubernetesObject>, scope: ScopeAs<'table'>): Lister<TableRow>;
  /** Holds the informer of a scope until the handle is released. */
  acquire<T extends KubernetesObject>(
    resource: Resource<T>,
    scope?: ObjectScope,
  ): InformerHandle<T>;
  acquire(
    resource: Resource<KubernetesObject>,
    scope: ScopeAs<'metadata'>,
  ): InformerHandle<PartialObjectMetadata>;
  acquire(
    resource: Resource<KubernetesObject>,
    scope: ScopeAs<'table'>,
  ): InformerHandle<TableRow, TableInformer>;
  /** Stops all informers and resolves when they have stopped. They stay in the factory, and `start()` starts them again. */
  stop(): Promise<void>;
  /**
   * Stops one informer, even if it is held, and removes it, for example after its CRD was deleted. All of its streams
   * complete. A query in use requests nothing until somebody requests the informer again. Resolves immediately if there
   * is none.
   */
  stop(resource: Resource<KubernetesObject>, scope?: InformerScope): Promise<void>;
}
