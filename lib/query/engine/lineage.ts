/**
 * The lineage of a live stream: the informers whose status a view shows, the rows that its operators refused, and
 * its rank, which orders operators at the end of a turn.
 */
import type { Observable } from 'rxjs';
import { mergePipeStatus } from '../../informer/status/merge-status.ts';
import type { InformerStatus } from '../../informer/status/status.ts';
import { type Origin, originOf } from '../../store/origin.ts';
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
export type RowIds = 'first' | 'named' | 'parts' | 'groups';

function formAfter(ids: RowIds, forms: readonly RowForm[]): RowForm {
  const { names, parts } = forms[0] ?? PLAIN;
  if (ids === 'first') return { names, parts };
  if (ids === 'parts') return { names, parts: parts + 1 };
  const isOne = forms.every((each) => each.names === names && each.parts === parts);
  return ids === 'groups' || !isOne ? PLAIN : { names: names + 1, parts };
}

/** The lineage of an operator over sources of these. The ids of the rows are those of the first, unless `ids` says otherwise. */
export function descend(
  above: readonly Lineage[],
  own: readonly RefusedRows[],
  ids: RowIds = 'first',
): Lineage {
  return {
    rank: 1 + Math.max(0, ...above.map(({ rank }) => rank)),
    informers: new Set(above.flatMap(({ informers }) => [...informers])),
    refusedRows: new Set([...above.flatMap(({ refusedRows }) => [...refusedRows]), ...own]),
    merge: mergePipeStatus,
    isOverClusters: above.some((each) => each.isOverClusters),
    ...formAfter(ids, above.map(formOf)),
  };
}

function isSubset(some: ReadonlySet<unknown>, all: ReadonlySet<unknown>): boolean {
  for (const each of some) if (!all.has(each)) return false;
  return true;
}

export function hasSameForm(one: Origin, other: Origin): boolean {
  const [{ names, parts }, now] = [formOf(one), formOf(other)];
  const isOver = one.isOverClusters === true;
  return names === now.names && parts === now.parts && isOver === (other.isOverClusters === true);
}

/**
 * The lineage of a stream of which a set has come. What is noted beside the stream is known before the first set, and is lost
 * behind an operator of RxJS that makes a stream of its own, such as `switchMap`.
 */
export function lineageWith(noted: Lineage, origin: Origin | undefined): Lineage {
  const seen = origin as Lineage | undefined;
  if (seen === undefined || seen === noted) return noted;
  const { rank, informers, refusedRows } = noted;
  if (rank === 0 && informers.size === 0) return seen;
  const isKnown =
    seen.rank <= rank &&
    isSubset(seen.informers, informers) &&
    isSubset(seen.refusedRows, refusedRows);
  // The same one, so that nothing follows again what is followed already.
  if (isKnown) return noted;
  return {
    ...seen,
    rank: Math.max(rank, seen.rank),
    informers: new Set([...informers, ...seen.informers]),
    refusedRows: new Set([...refusedRows, ...seen.refusedRows]),
    merge: seen.merge ?? noted.merge,
  };
}
