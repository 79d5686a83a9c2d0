/** What everyone sees of a factory. client-go: informers/factory.go, SharedInformerFactory. */
import type { Observable } from 'rxjs';
import type { PartialObjectMetadata, TableColumn, TableRow } from '../decode/projection.ts';
import type { SharedInformer } from '../informer/shared-informer.ts';
import type { SyncWaitOptions } from '../informer/waits.ts';
import type { Lister } from '../lister/lister.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import type { InformerScope } from './scope.ts';

/** An informer of rows, and what their cells mean. */
export interface TableInformer extends SharedInformer<TableRow> {
  /** The columns at once where the server has sent them, then each change of them. Does not start the informer. */
  readonly columns$: Observable<readonly TableColumn[]>;
}

/** A hold on an informer: as long as there is one, it runs with its factory. */
export interface InformerHandle<
  T extends KubernetesObject,
  I extends SharedInformer<T> = SharedInformer<T>,
> {
  readonly informer: I;
  readonly lister: Lister<T>;
  /**
   * Lets go, once. With the last hold gone an informer that runs lingers, whoever runs it; then it is stopped and
   * forgotten: its streams complete. Do not use it after this.
   */
  release(): void;
}

type Of<K extends 'object' | 'metadata' | 'table'> = InformerScope & { readonly as: K };
type Whole = InformerScope & { readonly as?: 'object' };

/** Ends informers: all, or one. */
export interface FactoryLife {
  /** Put before the names of its informers; '' where it has none. */
  readonly name: string;
  /** The names of its informers, in the order in which they were asked for. */
  readonly informers: readonly string[];
  /**
   * Starts all its informers, also those that were stopped by themselves, and from now on each as it is asked for.
   * Of one that runs it is nothing new; after `stop()` it is a new generation of the same informers.
   */
  start(): void;
  /**
   * Resolves when all that were asked for are synced. Rejects with a `NotSyncedError` that names who is missing
   * and why when `timeoutMs` are over, or at once when one is stopped. One that fails holds up no other: each
   * informer's own `whenSynced` tells of it alone.
   *
   * If the server refuses one of them (`status.blocked`), it rejects as soon as the server has answered for each of the
   * others, so that the error names all causes. With `whileBlocked: 'wait'` it waits, because the informers keep trying.
   */
  whenSynced(options?: SyncWaitOptions): Promise<void>;
}

/**
 * The informers of one client: one a resource, scope and projection, however many ask.
 *
 * `informer` and `lister` ask for the life of the factory; `acquire` until its handle is released. Nothing is sent
 * before `start()`, or before somebody subscribes to an informer's data.
 */
export interface InformerFactory extends FactoryLife {
  /** The informer of a scope. Throws a `TypeError` on a scope that cannot be. */
  informer<T extends KubernetesObject>(resource: Resource<T>, scope?: Whole): SharedInformer<T>;
  informer(
    resource: Resource<KubernetesObject>,
    scope: Of<'metadata'>,
  ): SharedInformer<PartialObjectMetadata>;
  informer(resource: Resource<KubernetesObject>, scope: Of<'table'>): TableInformer;
  /** A lister over the informer of a scope, asking for it. */
  lister<T extends KubernetesObject>(resource: Resource<T>, scope?: Whole): Lister<T>;
  lister(
    resource: Resource<KubernetesObject>,
    scope: Of<'metadata'>,
  ): Lister<PartialObjectMetadata>;
  lister(resource: Resource<KubernetesObject>, scope: Of<'table'>): Lister<TableRow>;
  /** Holds the informer of a scope until the handle is released. */
  acquire<T extends KubernetesObject>(resource: Resource<T>, scope?: Whole): InformerHandle<T>;
  acquire(
    resource: Resource<KubernetesObject>,
    scope: Of<'metadata'>,
  ): InformerHandle<PartialObjectMetadata>;
  acquire(
    resource: Resource<KubernetesObject>,
    scope: Of<'table'>,
  ): InformerHandle<TableRow, TableInformer>;
  /** Stops all, and resolves when nothing of them is left to do. They stay, for another `start()`. */
  stop(): Promise<void>;
  /** Stops and forgets one, whoever holds it: of a CRD that was deleted, say. Resolves at once where there is none. */
  stop(resource: Resource<KubernetesObject>, scope?: InformerScope): Promise<void>;
}
