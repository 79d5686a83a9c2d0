/** Reports the status of the shards that are held and of those that arrive, as one status. */
import { type ShardRange, withoutRanges } from '../../meta/shard-ranges/ranges.ts';
import type { ReflectorStatus } from '../status.ts';
import { mergedStatus, sameShards, withoutShards } from './merged-status.ts';
import type { ShardHolding } from './shard-holding.ts';

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
