/**
 * The lineage of a live stream: the informers whose status a view shows, the rows that its operators refused, and
 * its rank, which orders operators at the end of a turn.
 */
import type { Observable } from 'rxjs';
import { mergePipeStatus } from '../../informer/status/merge-status.ts';
import type { InformerStatus } from '../../informer/status/status.ts';
import { type Origin, originOf } from '../../store/change-stream.ts';
import type { RefusedRows } from './refused-rows.ts';

export interface Lineage extends Origin {
  readonly informers: ReadonlySet<Observable<InformerStatus>>;
  readonly refusedRows: ReadonlySet<RefusedRows>;
  /** Merges the status of several informers. Absent if there is one, so that the view of an informer does not load it. */
  readonly merge?: typeof mergePipeStatus | undefined;
}

/** The lineage of a stream. RxJS operators between live operators are looked through. */
export function lineageOf(stream: Observable<unknown>): Lineage {
  // Only informers and live operators note an origin.
  return originOf(stream) as Lineage;
}

/** The lineage of an operator over these sources. */
export function descend(
  sources: readonly Observable<unknown>[],
  own: readonly RefusedRows[],
): Lineage {
  const above = sources.map(lineageOf);
  return {
    rank: 1 + Math.max(0, ...above.map(({ rank }) => rank)),
    informers: new Set(above.flatMap(({ informers }) => [...informers])),
    refusedRows: new Set([...above.flatMap(({ refusedRows }) => [...refusedRows]), ...own]),
    merge: mergePipeStatus,
    isOverClusters: above.some((each) => each.isOverClusters),
  };
}
