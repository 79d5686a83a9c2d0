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

/** What stands before and behind the id and the key of an object in those of the rows of a stream. */
export interface RowForm {
  readonly names: number;
  readonly parts: number;
}

/** That of rows of which nothing is known, and of groups, whose ids are keys of the user. */
const PLAIN: RowForm = { names: 0, parts: 0 };

export function formOf({ isOverClusters, names, parts = 0 }: Origin): RowForm {
  return { names: names ?? (isOverClusters ? 1 : 0), parts };
}

/** How the ids of an operator's rows are made. */
export type RowIds = 'first' | 'named' | 'shared' | 'parts' | 'groups';

function formAfter(ids: RowIds, forms: readonly RowForm[]): RowForm {
  const { names, parts } = forms[0] ?? PLAIN;
  if (ids === 'first') return { names, parts };
  if (ids === 'parts') return { names, parts: parts + 1 };
  const isOne = forms.every((each) => each.names === names && each.parts === parts);
  if (ids === 'groups' || !isOne) return PLAIN;
  return { names: ids === 'named' ? names + 1 : names, parts };
}

/** The lineage of an operator over these sources. The ids of the rows are those of the first, unless `ids` says otherwise. */
export function descend(
  sources: readonly Observable<unknown>[],
  own: readonly RefusedRows[],
  ids: RowIds = 'first',
): Lineage {
  const above = sources.map(lineageOf);
  return {
    rank: 1 + Math.max(0, ...above.map(({ rank }) => rank)),
    informers: new Set(above.flatMap(({ informers }) => [...informers])),
    refusedRows: new Set([...above.flatMap(({ refusedRows }) => [...refusedRows]), ...own]),
    merge: mergePipeStatus,
    isOverClusters: above.some((each) => each.isOverClusters),
    ...formAfter(ids, above.map(formOf)),
  };
}
