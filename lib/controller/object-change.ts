/**
 * What happened to one object, as predicates and mappings see it: the state before, the state now, and why it is
 * told. Both states, because a child that moves from one owner to another concerns both.
 */

import type { Change } from '../delta/net-change.ts';
import type { Stored } from '../meta/stored.ts';
import type { ChangeSet } from '../store/change-set.ts';

/** Why a change is told: it was there at the start, a watch event, a later list, or a resync without news. */
export type ChangeCause = 'initial' | 'watch' | 'relist' | 'resync';

/** What happened to one object. */
export interface ObjectChange<T> {
  readonly type: 'added' | 'updated' | 'deleted';
  readonly cause: ChangeCause;
  /** `namespace/name` of the object itself. */
  readonly key: string;
  /** The state before, as it was told last. */
  readonly previous?: Stored<T>;
  /** The state now; absent when it is deleted. */
  readonly object?: Stored<T>;
  /** Of a deleted object: the newest state that was seen. */
  readonly last?: Stored<T>;
}

/** One change of a set; `undefined` where nothing was and nothing is. */
export function objectChange<T>(
  set: Pick<ChangeSet<T>, 'cause' | 'initial'>,
  change: Change<T>,
): ObjectChange<T> | undefined {
  const { key, previous, object } = change;
  const cause = set.cause === 'snapshot' || set.initial ? 'initial' : set.cause;
  if (object !== undefined) {
    if (previous === undefined) return { type: 'added', cause, key, object };
    return { type: 'updated', cause, key, previous, object };
  }
  if (previous === undefined) return undefined;
  return { type: 'deleted', cause, key, previous, last: change.last ?? previous };
}
