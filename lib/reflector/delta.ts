/**
 * The deltas of the reflector: the changes it reports to the queue, in the order in which it learned of them.
 * client-go: tools/cache/delta_fifo.go (DeltaType) and the_real_fifo.go (ReplacedAll, Bookmark).
 */
import type { Refused } from '../decode/watch-event.ts';
import type { RefusedState } from '../meta/known-objects.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';
import type { RefusedKey } from '../meta/shard-ranges/shard-filter.ts';

/** The shards that a list covers, or that a store holds, as a test of objects. */
export interface ShardBounds {
  contains(object: KubernetesObject): boolean;
  /** Whether an object whose state was refused belongs to the shards. */
  containsRefused(refused: RefusedKey): boolean;
}

/** The objects that are known when a delta is resolved. */
export interface KnownNow<T> {
  keys(): Iterable<string>;
  get(key: string): T | undefined;
  refusedKeys(): Iterable<string>;
  refused(key: string): RefusedState | undefined;
}

/** Set if the change is no change on the server: the shards that the store holds have changed. */
interface Rebalanced {
  readonly cause?: 'rebalance' | undefined;
}

/** The deletion of an object. */
export interface Deletion<T> extends Rebalanced {
  readonly type: 'deleted';
  readonly key: string;
  /** The newest known state; absent if no state is known. */
  readonly object?: T;
  /** Whether the deletion event was missed, so that `object` may be older than the last state on the server. */
  readonly finalStateUnknown: boolean;
  /** The version of the deletion event, if the state in that event was refused. */
  readonly resourceVersion?: ResourceVersion | '' | undefined;
}

/**
 * A change of one key, or of the complete collection. A relist is sent as `replacing` parts, followed by `replaced`
 * (commit the parts) or `replace-abort` (discard them). `scope` is the namespace that the delta applies to; if it is
 * absent, the delta applies to all namespaces.
 */
export type Delta<T> =
  | (Rebalanced & {
      readonly type: 'added' | 'updated' | 'sync';
      readonly key: string;
      readonly object: T;
      /** The earlier state whose unchanged parts `object` has already, at every depth. */
      readonly basis?: T | undefined;
    })
  | Deletion<T>
  /** The object exists, but its new state was refused. The stored state, if any, is kept. */
  | (Rebalanced & { readonly type: 'refused'; readonly key: string; readonly refused: Refused })
  /** The objects that are refused when this delta is applied are to be tried again. */
  | { readonly type: 'retry' }
  /** A part of a list in progress: more of its objects, and keys that were deleted again while the list streamed. */
  | {
      readonly type: 'replacing';
      readonly scope?: string | undefined;
      readonly objects: readonly T[];
      /** The keys of the objects, in the same order, if they are known. Without them the keys are made again. */
      readonly keys?: readonly string[] | undefined;
      readonly removed?: readonly string[] | undefined;
      /** Objects whose state was refused. They exist on the server, so they do not count as missing from the list. */
      readonly refused?: readonly Refused[] | undefined;
    }
  /** The list in progress failed. The queue passes this delta on if it has passed on parts of that list. */
  | { readonly type: 'replace-abort'; readonly scope?: string | undefined }
  /** The list is complete. It consists of the parts since the previous list ended, and of these objects. */
  | {
      readonly type: 'replaced';
      readonly scope?: string | undefined;
      readonly objects: readonly T[];
      /** The objects by key, without those that have no key. Set by the queue. */
      readonly listed?: ReadonlyMap<string, T> | undefined;
      /**
       * The known objects that the list does not contain, in their newest known states. Set by the queue; if it is absent,
       * the store compares its objects with the list.
       */
      readonly missing?: readonly Deletion<T>[] | undefined;
      /**
       * The queue has passed the parts on already, to an empty store, so every known key of the scope is in the list.
       */
      readonly flowed?: true | undefined;
      /** The list covers only these shards, so it deletes no object of others. */
      readonly within?: ShardBounds | undefined;
      readonly refused?: readonly Refused[] | undefined;
      readonly resourceVersion: ResourceVersion;
      /** Whether equal versions mean equal content. `false` if the list is older than a version already seen. */
      readonly trustVersions: boolean;
    }
  /** Shards leave or arrive. The deltas that follow from it depend on the objects that are known by then. */
  | { readonly type: 'rebalanced'; resolve(known: KnownNow<T>): Iterable<Delta<T>> }
  | {
      readonly type: 'bookmark';
      readonly scope?: string | undefined;
      readonly resourceVersion: ResourceVersion;
    };

/** The delta with a part of a list. */
export type Replacing<T> = Extract<Delta<T>, { type: 'replacing' }>;

/** The delta that ends a list. */
export type Replaced<T> = Extract<Delta<T>, { type: 'replaced' }>;
