/** Combines the status of the shards that are held with that of the shards that arrive. */
import { sameRanges } from '../../meta/shard-ranges/ranges.ts';
import type { ReflectorStatus } from '../status.ts';
import type { ShardHolding } from './shard-holding.ts';

/** The former status if it says the same, because a status is compared by identity. */
export function sameShards(before: ShardHolding | undefined, now: ShardHolding): ShardHolding {
  if (before === undefined || before.message !== now.message) return now;
  const isSame = sameRanges(before.holds, now.holds) && sameRanges(before.arriving, now.arriving);
  return isSame ? before : now;
}

/** The status without a request, because no shards are owned, or because they are not known yet. */
export function withoutShards(isKnown: boolean, sinceMs: number): ReflectorStatus {
  return {
    phase: isKnown ? 'watching' : 'queued',
    ...(isKnown ? {} : { waitingFor: 'the shards of this replica are not known yet' }),
    ...{ synced: isKnown, live: isKnown, sinceMs, attempt: 0 },
    ...{ reconnects: 0, relists: 0, resourceVersion: '' },
  };
}

/** The status of the shards that are held, with the failures of those that arrive. */
export function mergedStatus(
  held: ReflectorStatus | undefined,
  arriving: ReflectorStatus | undefined,
  nowMs: number,
): ReflectorStatus {
  const status = held ?? (arriving && { ...arriving, synced: true }) ?? withoutShards(true, nowMs);
  const { error = arriving?.error, blocked = arriving?.blocked } = status;
  return {
    ...status,
    live: status.live && arriving === undefined,
    ...(error === undefined ? {} : { error }),
    ...(blocked === undefined ? {} : { blocked }),
  };
}
