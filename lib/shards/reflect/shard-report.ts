/** Reports the status of the shards that are held and of those that arrive, as one status. */
import { type ShardRange, sameRanges, withoutRanges } from '../../meta/shard-ranges/ranges.ts';
import type { ReflectorStatus, ShardHolding } from '../../reflector/status.ts';

/** The former status if it says the same, because a status is compared by identity. */
function sameShards(before: ShardHolding | undefined, now: ShardHolding): ShardHolding {
  if (before === undefined || before.message !== now.message) return now;
  const isSame = sameRanges(before.holds, now.holds) && sameRanges(before.arriving, now.arriving);
  return isSame ? before : now;
}

/** The status without a request, because no shards are owned, or because they are not known yet. */
function withoutShards(isKnown: boolean, sinceMs: number): ReflectorStatus {
  return {
    phase: isKnown ? 'watching' : 'queued',
    ...(isKnown ? {} : { waitingFor: 'the shards of this replica are not known yet' }),
    ...{ synced: isKnown, live: isKnown, sinceMs, attempt: 0 },
    ...{ reconnects: 0, relists: 0, resourceVersion: '' },
  };
}

/** The status of the shards that are held, with the failures of those that arrive. */
function mergedStatus(
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

/** A follower, as far as the status shows it. */
interface Shown {
  readonly ranges: readonly ShardRange[];
  readonly status: ReflectorStatus | undefined;
}

export class ShardReport {
  readonly #notify: (status: ReflectorStatus) => void;
  #shards: ShardHolding | undefined;
  /** The counters of the followers that have ended. */
  #ended = { reconnects: 0, relists: 0 };

  constructor(notify: (status: ReflectorStatus) => void) {
    this.#notify = notify;
  }

  /** Counts the requests of a follower that has ended. */
  end({ status }: Shown): void {
    const { reconnects, relists } = this.#ended;
    this.#ended = {
      reconnects: reconnects + (status?.reconnects ?? 0),
      relists: relists + (status?.relists ?? 0),
    };
  }

  unknown(nowMs: number): void {
    this.#notify(withoutShards(false, nowMs));
  }

  publish(
    owned: readonly ShardRange[],
    { held, arriving }: { readonly held: Shown | undefined; readonly arriving: Shown | undefined },
    told: Pick<ShardHolding, 'serverFilters' | 'message'>,
    nowMs: number,
  ): void {
    const holds = held?.ranges ?? [];
    this.#shards = sameShards(this.#shards, {
      ...{ holds, arriving: withoutRanges(owned, holds) },
      ...told,
    });
    const status = mergedStatus(held?.status, arriving?.status, nowMs);
    this.#notify({
      ...status,
      reconnects: status.reconnects + this.#ended.reconnects,
      relists: status.relists + this.#ended.relists,
      shards: this.#shards,
    });
  }
}
