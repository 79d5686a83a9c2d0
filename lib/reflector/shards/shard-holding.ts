/** `ShardHolding`, the part of an informer's status that says which shards it holds. */
import type { ShardRange } from '../../meta/shard-ranges/ranges.ts';

/** The shards of an informer. */
export interface ShardHolding {
  /** The ranges whose objects are in the store, or whose first list is in progress. */
  readonly holds: readonly ShardRange[];
  /** The ranges that are owned and are being listed, because they have just arrived. */
  readonly arriving: readonly ShardRange[];
  /** Whether the server sends only the objects of these shards; absent while that is not known. */
  readonly serverFilters?: boolean;
  /** Who filters, in words for a user. */
  readonly message: string;
}
