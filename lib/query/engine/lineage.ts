/**
 * What a live stream descends from: the informers whose status a view shows, the rows that its operators rejected, and
 * its rank, which orders operators at the end of a turn.
 */
import type { Observable } from 'rxjs';
import { carriedStatus } from '../../informer/status/carried-status.ts';
import type { InformerStatus } from '../../informer/status/status.ts';
import { sourceOf } from '../../store/source-of.ts';
import type { Rejections } from './rejections.ts';

export interface Lineage {
  /** One more than the highest rank of the sources; 0 for a stream that is no live operator's. */
  readonly rank: number;
  readonly informers: ReadonlySet<Observable<InformerStatus>>;
  readonly rejections: ReadonlySet<Rejections>;
  /** Whether the name of a cluster stands before each id and key. */
  readonly isOverClusters?: boolean;
}

const lineages = /* @__PURE__ */ new WeakMap<object, Lineage>();

/** Notes the lineage of a stream. Returns the stream. */
export function carryLineage<S extends object>(stream: S, lineage: Lineage): S {
  lineages.set(stream, lineage);
  return stream;
}

/** The lineage of a stream. RxJS operators between live operators are looked through. */
export function lineageOf(stream: Observable<unknown>): Lineage {
  for (let at: Observable<unknown> | undefined = stream; at !== undefined; at = sourceOf(at)) {
    const lineage = lineages.get(at);
    if (lineage !== undefined) return lineage;
    const status$ = carriedStatus(at);
    if (status$ !== undefined) {
      return { rank: 0, informers: new Set([status$]), rejections: new Set() };
    }
  }
  return { rank: 0, informers: new Set(), rejections: new Set() };
}

/** The lineage of an operator over these sources. */
export function descend(
  sources: readonly Observable<unknown>[],
  own: readonly Rejections[],
): Lineage {
  const above = sources.map(lineageOf);
  return {
    rank: 1 + Math.max(0, ...above.map(({ rank }) => rank)),
    informers: new Set(above.flatMap(({ informers }) => [...informers])),
    rejections: new Set([...above.flatMap(({ rejections }) => [...rejections]), ...own]),
    isOverClusters: above.some((each) => each.isOverClusters),
  };
}
