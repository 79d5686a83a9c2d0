/** The selection of objects by ranges of hashes, on the client and as text for the server. */

import { checkedWord } from '../../checks/checked-option.ts';
import type { RefusedState } from '../known-objects.ts';
import { controllerUidOf, type KubernetesObject } from '../kubernetes-object.ts';
import { type Hash64, hash64, joinRanges, parseBound, type ShardRange, slotOf } from './ranges.ts';

/**
 * The field whose hash decides to which shard an object belongs. By `namespace`, all cluster-scoped objects are in one
 * shard, because their namespace is ''.
 */
export type ShardBy = 'uid' | 'namespace';

/**
 * How a client selects the objects of a shard. By `owner`, an object is in the shard of its controller owner's UID, so
 * that a replica has the owned objects of its own objects; an object without one is in no shard. A server cannot select
 * by owner, so every replica receives all objects of an owned kind.
 */
export type ShardFilterBy = ShardBy | 'owner';

const BY_FIELD: readonly ShardBy[] = ['uid', 'namespace'];

/** The text whose hash decides. By `owner`, an object without one ('') is in no shard. */
function shardedValue(object: KubernetesObject, by: ShardFilterBy): string {
  return by === 'owner' ? controllerUidOf(object) : (object.metadata?.[by] ?? '');
}

/**
 * The slot of an object, 0 to 63. A missing UID or namespace counts as ''.
 *
 * @example
 * ```ts
 * import { shardSlot } from 'rx-informer';
 *
 * shardSlot({ metadata: { namespace: 'shop', name: 'web-0' } }, 'namespace'); // => 17
 * ```
 */
export function shardSlot(object: KubernetesObject, by: ShardBy): number {
  return slotOf(hash64(shardedValue(object, checkedWord(by, 'shardSlot: by', BY_FIELD))));
}

/**
 * The slot of a UID or a namespace, 0 to 63.
 *
 * @example
 * ```ts
 * import { shardSlotOf } from 'rx-informer';
 *
 * shardSlotOf('shop'); // => 17
 * ```
 */
export function shardSlotOf(text: string): number {
  return slotOf(hash64(text));
}

/** What is known of an object whose state was refused. */
export interface RefusedKey extends Pick<RefusedState, 'uid' | 'controllerUid'> {
  readonly key: string;
}

/** Selects objects by ranges of hashes. Create it with {@link createShardFilter}. */
export interface ShardFilter {
  readonly by: ShardFilterBy;
  /** The ranges, sorted and joined. */
  readonly ranges: readonly ShardRange[];
  /** Whether the object is in one of the ranges. */
  contains(object: KubernetesObject): boolean;
  /** Whether an object with this UID, this namespace or this owner's UID is in one of the ranges. */
  containsValue(text: string): boolean;
  /**
   * Whether an object whose state was refused is in one of the ranges. By `owner` also true if its owner is not known.
   */
  containsRefused(refused: RefusedKey): boolean;
}

/**
 * Creates a filter that selects the same objects as a server that is sent `shardSelector(by, ranges)`, or objects by
 * their owner, which no server does. Without ranges it selects nothing. Throws a `TypeError` if a range or `by` is invalid.
 *
 * @example
 * ```ts
 * import { createShardFilter, shardRanges } from 'rx-informer';
 *
 * const mine = createShardFilter('namespace', shardRanges([17, 18]));
 * mine.contains({ metadata: { namespace: 'shop', name: 'web-0' } }); // => true
 * ```
 */
export function createShardFilter(by: ShardFilterBy, ranges: Iterable<ShardRange>): ShardFilter {
  checkedWord<ShardFilterBy>(by, 'createShardFilter: by', [...BY_FIELD, 'owner']);
  const joined = joinRanges(ranges);
  // Numbers in one array, because this runs once per object of every list and event.
  const bounds = joined.flatMap(({ start, end }) => {
    const [from, to] = [parseBound(start), parseBound(end)];
    return [from.high, from.low, to.high, to.low];
  });
  const has = ({ high, low }: Hash64): boolean => {
    for (let at = 0; at < bounds.length; at += 4) {
      const fromHigh = bounds[at] as number;
      if (high < fromHigh || (high === fromHigh && low < (bounds[at + 1] as number))) return false;
      const toHigh = bounds[at + 2] as number;
      if (high < toHigh || (high === toHigh && low < (bounds[at + 3] as number))) return true;
    }
    return false;
  };
  const holds = (value: string) => (by !== 'owner' || value !== '') && has(hash64(value));
  return {
    by,
    ranges: joined,
    contains: (object) => holds(shardedValue(object, by)),
    containsValue: (text) => has(hash64(text)),
    containsRefused: ({ key, uid, controllerUid }) => {
      if (by === 'uid') return holds(uid);
      if (by === 'owner') return controllerUid === undefined || holds(controllerUid);
      return holds(key.slice(0, Math.max(0, key.indexOf('/'))));
    },
  };
}

/**
 * The `shardSelector` of a list or watch request (feature gate ShardedListAndWatch of kube-apiserver). A server without
 * the gate ignores it, so select the objects with {@link createShardFilter} as well. Throws a `TypeError` without
 * ranges, because no selector selects nothing.
 *
 * @experimental
 * @example
 * ```ts
 * import { shardRanges, shardSelector } from 'rx-informer';
 *
 * shardSelector('uid', shardRanges([0]));
 * // => "shardRange(object.metadata.uid, '0x0000000000000000', '0x0400000000000000')"
 * ```
 */
export function shardSelector(by: ShardBy, ranges: Iterable<ShardRange>): string {
  checkedWord(by, 'shardSelector: by', BY_FIELD);
  const joined = joinRanges(ranges);
  if (joined.length === 0) {
    throw new TypeError('shardSelector: no range given; a selector without ranges does not exist');
  }
  return joined
    .map(({ start, end }) => `shardRange(object.metadata.${by}, '${start}', '${end}')`)
    .join(' || ');
}
