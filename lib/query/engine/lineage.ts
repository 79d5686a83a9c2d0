/**
 * The lineage of a live stream: the informers whose status a view shows, the rows that its operators refused, and
 * its rank, which orders operators at the end of a turn.
 */
import type { Observable } from 'rxjs';
import type { InformerStatus } from '../../informer/status/status.ts';
import { type Origin, unite } from '../../store/origin.ts';
import { SetSource } from '../../store/set-source.ts';
import type { RefusedRows } from './refused-rows.ts';

/** An origin, in the types of live queries. */
export interface Lineage extends Origin {
  readonly informers: ReadonlySet<Observable<InformerStatus>>;
  readonly refusedRows: ReadonlySet<RefusedRows>;
  readonly merge?: ((statuses: readonly InformerStatus[]) => InformerStatus) | undefined;
}

/** The lineage of an operator over sources of these. `emitter` is the subscription to the operator. */
export function descend(
  above: readonly Lineage[],
  own: readonly RefusedRows[],
  emitter: object,
): Lineage {
  const { rank, informers, merge, refusedRows, isOverClusters } = unite(above) as Lineage;
  return {
    ...{ emitter, rank: rank + 1, informers, merge, isOverClusters },
    refusedRows: new Set([...refusedRows, ...own]),
  };
}

/** Where the rows of one subscription of an operator come from, and the sets that it takes. */
export class Ancestry {
  readonly #descend: (above: readonly Lineage[]) => Lineage;
  /** The sources, and behind them the parameters. */
  readonly sources: readonly SetSource<unknown>[];
  /** Whether each source was over clusters when the machine was made. */
  #madeFor: readonly boolean[] = [];
  #lineage: Lineage | undefined;

  /** `onLineage` is called when the rows come from elsewhere. */
  constructor(
    inputs: number,
    descend: (above: readonly Lineage[]) => Lineage,
    onLineage: (lineage: Lineage) => void,
  ) {
    this.#descend = descend;
    const changed = () => {
      this.#lineage = undefined;
      onLineage(this.lineage);
    };
    this.sources = Array.from({ length: inputs }, () => new SetSource(changed));
  }

  /** The lineage of each source. */
  get above(): readonly Lineage[] {
    return this.sources.map(({ origin }) => origin as Lineage);
  }

  /** The same one until it changes. */
  get lineage(): Lineage {
    this.#lineage ??= this.#descend(this.above);
    return this.#lineage;
  }

  /** The lineage of each source, for a machine that is made now. */
  forMachine(): readonly Lineage[] {
    this.#madeFor = this.sources.map(isOverClusters);
    return this.above;
  }

  /** Whether the rows of a source are of several clusters, and were not when the machine was made, or the reverse. */
  get hasOtherClusters(): boolean {
    return this.sources.some((source, at) => isOverClusters(source) !== this.#madeFor[at]);
  }
}

function isOverClusters({ origin }: SetSource<unknown>): boolean {
  return origin.isOverClusters === true;
}
