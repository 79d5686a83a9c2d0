/**
 * One change of an object as predicates and mappings receive it: the state before, the state after, and the cause. It has both
 * states because an object that moves from one owner to another affects both owners.
 */

import type { Change } from '../delta/net-change.ts';
import type { Stored } from '../meta/stored.ts';
import type { Cause, ChangeSet } from '../store/change-set.ts';

/** Why a change is reported: the initial list, a watch event, a relist, or a resync without a change, or shards that arrived. */
export type ChangeCause = Exclude<Cause, 'snapshot'>;

/** A change of one object. */
export interface ObjectChange<T> {
  readonly type: 'added' | 'updated' | 'deleted';
  readonly cause: ChangeCause;
  /** The key of the object itself, `namespace/name`. */
  readonly key: string;
  /** The state that was reported before. */
  readonly previous?: Stored<T>;
  /** The state after the change; absent if the object is deleted. */
  readonly object?: Stored<T>;
  /** For a deleted object: the newest state that was seen. */
  readonly last?: Stored<T>;
}

/**
 * Converts one change of a set; `undefined` if the object exists neither before nor after it, or if its shard has left:
 * another replica reconciles it.
 */
export function objectChange<T>(
  set: Pick<ChangeSet<T>, 'cause' | 'initial'>,
  change: Change<T>,
): ObjectChange<T> | undefined {
  const { key, previous, object } = change;
  if (object === undefined && change.left === true) return undefined;
  const cause = set.cause === 'snapshot' || set.initial ? 'initial' : set.cause;
  if (object !== undefined) {
    if (previous === undefined) return { type: 'added', cause, key, object };
    return { type: 'updated', cause, key, previous, object };
  }
  if (previous === undefined) return undefined;
  return { type: 'deleted', cause, key, previous, last: change.last ?? previous };
}
