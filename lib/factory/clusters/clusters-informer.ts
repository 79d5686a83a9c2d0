/** The informer of several clusters as its users see it, and what it needs of the clusters. */
import type { Observable, SchedulerLike } from 'rxjs';
import type { InformerStatus } from '../../informer/status/status.ts';
import type { SyncWaitOptions } from '../../informer/waits.ts';
import type { KubernetesObject, Stored } from '../../meta/kubernetes-object.ts';
import type { Resource } from '../../meta/resource.ts';
import type { ChangeStream } from '../../store/change-stream.ts';
import type { Indexers } from '../../store/index-funcs.ts';
import type { Member, MembersListener } from './members.ts';

/**
 * A live copy of a collection in several clusters. The name of the cluster stands before each id and key:
 * `east/shop/web-0`.
 */
export interface ClustersInformer<T extends KubernetesObject> {
  /** The name of the resource and the scope: `pods/shop`. */
  readonly name: string;
  /**
   * The objects of all clusters. Like `changes$` of an informer, it emits the present objects as one `reset` set on
   * subscription, then each commit of each cluster, and never errors. It is synced when each cluster has a complete
   * list or its first list has failed, but not if all have failed. It stays synced when a cluster comes later.
   */
  readonly changes$: ChangeStream<T>;
  /** The stores of all clusters, read-only. */
  readonly indexer: {
    /** Returns the object under `cluster/namespace/name`, or `cluster/name`. */
    getByKey(key: string): Stored<T> | undefined;
    /** Returns the objects of all clusters. */
    list(): readonly Stored<T>[];
  };
  /** The status, merged: a cluster that has failed shows its error, and does not determine the phase. */
  readonly status: InformerStatus;
  /** Emits the status on subscription, then each transition. Does not start the informer. */
  readonly status$: Observable<InformerStatus>;
  /** Whether `changes$` is synced. */
  readonly hasSynced: boolean;
  /**
   * Resolves when the informer is synced. Rejects with the causes when `timeoutMs` has passed, when the clusters are
   * stopped, when the informer is removed, and when every cluster refuses the list. With `whileBlocked: 'wait'` it waits for access.
   */
  whenSynced(options?: SyncWaitOptions): Promise<void>;
  /** Returns the part of a key that names the cluster: `east/` of `east/shop/web-0`. */
  prefixOf(key: string): string;
  /**
   * Whether the list of a key's cluster is complete, so that an object that is not in the store does not exist.
   * `undefined` if there is no such cluster.
   */
  isCompleteAt(key: string): boolean | undefined;
}

/** The parts of the clusters that a merged informer uses. */
export interface MergedHost {
  readonly members: {
    readonly current: ReadonlyMap<string, Member>;
    /** Clusters that cannot be shown, by name, with the reason. */
    readonly problems: ReadonlyMap<string, Error>;
    readonly isKnown: boolean;
    readonly error: Error | undefined;
    /** Whether all clusters are known at this moment. */
    readonly isSettled: boolean;
    /** Tells the listener, until the returned function is called. */
    listen(listener: MembersListener): () => void;
  };
  readonly generation: number;
  readonly phase: 'idle' | 'stopped' | undefined;
  readonly scheduler: SchedulerLike;
  /** Runs a task in the drain of the clusters, synchronously if it is part of a running task. */
  enter(task: () => void): void;
  run(task: () => void): void;
  /** Follows the clusters until the returned function is called. */
  hold(): () => void;
  indexersOf(
    resource: Resource<KubernetesObject>,
    as: 'object' | 'metadata' | 'table',
  ): Indexers<KubernetesObject>;
  /** Called when the status of an informer has changed. */
  changed(): void;
}
