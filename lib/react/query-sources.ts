/** The live queries of a provider. The first hook that asks a query brings them, so other hooks do without. */
import { defer, EMPTY } from 'rxjs';
import { share } from 'rxjs/operators';
import { SharedQueries } from '../factory/queries/shared-queries.ts';
import type { LiveQuery } from '../query/live-query/live-query.ts';
import type { Demand } from '../rx/demand.ts';
import { animationFrames } from '../rx/demands.ts';
import { editableLayerOf } from './edit/provided-edits.ts';
import type { Provided } from './provided.ts';
import type { ProviderState } from './provider-state.ts';
import { type RowSource, ViewSource } from './row-source.ts';

/** How many sources there may be before those that are no longer referenced are looked for. */
const SWEEP_SIZE = 64;

/** One frame for all queries, so that React renders all of their changes at once. */
function commonFrames(): Demand {
  const frames = animationFrames();
  const frame$ = defer(() => frames() ?? EMPTY).pipe(share());
  return () => frame$;
}

class QuerySources {
  readonly queries: SharedQueries;
  readonly #provided: Provided;
  /** Weak, because nobody would remove the source of a render that was discarded. */
  readonly #known = new Map<string, WeakRef<ViewSource<unknown>>>();
  #sweepAt = SWEEP_SIZE;

  constructor(provided: Provided) {
    this.#provided = provided;
    const layer = provided.part(editableLayerOf);
    this.queries = new SharedQueries(provided.informers, { ready: commonFrames() }, layer);
  }

  /** The source of a query: the same one for equal queries while it is used, and for the linger after that. */
  source<Row>(query: LiveQuery<Row>): ViewSource<Row> {
    const { key } = query;
    // A copy, because a query keeps its view, whose rows are outdated after the linger.
    const { view } = this.queries.channelOf({ ...query } as LiveQuery);
    const known = this.#known.get(key)?.deref();
    if (known?.isCurrent === true || known?.view === view) return known as ViewSource<never>;
    const names = () => `${this.queries.plansOf(query as LiveQuery).map(({ name }) => name)}`;
    const source: ViewSource<unknown> = new ViewSource<unknown>(view, {
      used: () => this.#provided.use(source, names),
      changed: () => this.#provided.changed(),
      lingers: () => this.queries.hasView(key, view),
    });
    if (this.#known.size >= this.#sweepAt) this.#sweep();
    this.#known.set(key, new WeakRef(source));
    return source as ViewSource<never>;
  }

  #sweep(): void {
    for (const [key, entry] of this.#known) {
      if (entry.deref() === undefined) this.#known.delete(key);
    }
    this.#sweepAt = Math.max(SWEEP_SIZE, 2 * this.#known.size);
  }
}

/** The live queries of a provider, as a part of it. */
export function querySourcesOf(provided: Provided): QuerySources {
  return new QuerySources(provided);
}

/** The source of a query in a provider. */
export function sourceOfQuery<Row>(state: ProviderState, query: LiveQuery<Row>): RowSource<Row> {
  const answered = state.answered?.(query as LiveQuery);
  return (answered ?? heldSourceOf(state as Provided, query as LiveQuery)) as RowSource<Row>;
}

/** The source of a query over the informers of a provider. */
export function heldSourceOf<Row>(provided: Provided, query: LiveQuery<Row>): ViewSource<Row> {
  return provided.part(querySourcesOf).source(query);
}
