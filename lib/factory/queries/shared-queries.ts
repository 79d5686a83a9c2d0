/** The pipelines and views of queries over the informers of a factory: one of each for equal queries. */
import { EMPTY } from 'rxjs';
import { checkedDuration } from '../../checks/checked-option.ts';
import { checkedQuery, type LiveQuery } from '../../query/live-query/live-query.ts';
import type { InformerPool } from '../shared-informers.ts';
import type { Layer } from './pipeline.ts';
import { planOf, type SourcePlan } from './plan.ts';
import { type LiveQueriesOptions, QueryChannel } from './query-channel.ts';
import { RunningQuery } from './running-query.ts';
import { SharedFirstRows } from './shared-first-rows.ts';

interface Running {
  readonly running: RunningQuery;
  readonly channel: QueryChannel;
}

/** Live queries, whose objects a layer may show otherwise than the informers have them. */
export class SharedQueries {
  readonly #informers: InformerPool;
  readonly #options: LiveQueriesOptions;
  readonly #lingerMs: number;
  readonly #layer: Layer | undefined;
  readonly #firstRows = new SharedFirstRows();
  readonly #pipelines = new Map<string, Running>();
  readonly #channels = new WeakMap<object, QueryChannel>();

  constructor(informers: InformerPool, options: LiveQueriesOptions, layer?: Layer) {
    this.#informers = informers;
    this.#options = options;
    this.#lingerMs = options.lingerMs ?? informers.lingerMs;
    checkedDuration(this.#lingerMs, 'createLiveQueries: lingerMs');
    this.#layer = layer;
  }

  /** The sources that the query would read if it began now. Throws a `TypeError` if it cannot be answered. */
  protected plan(query: LiveQuery): readonly SourcePlan[] {
    return planOf(query, this.#informers);
  }

  /** How many pipelines there are, those that linger included. */
  get size(): number {
    return this.#pipelines.size;
  }

  /** The stream and the view of a query: the same ones for equal queries while they are used. */
  channelOf(given: LiveQuery): QueryChannel {
    const query = checkedQuery(given);
    const known = this.#channels.get(query) ?? this.#pipelines.get(query.key)?.channel;
    if (known !== undefined) return known;
    this.plan(query);
    const channel = this.#create(query);
    this.#channels.set(query, channel);
    return channel;
  }

  /** Whether the view is that of a pipeline, which may linger. */
  hasView(key: string, view: unknown): boolean {
    return this.#pipelines.get(key)?.channel.view === view;
  }

  /** Whether an answer is that of a pipeline, which may linger. */
  runs(answer: object): boolean {
    return [...this.#pipelines.values()].some(({ channel }) => channel === answer);
  }

  /** The sources that the pipeline of a query reads, or would read if it began now. */
  plansOf(query: LiveQuery): readonly SourcePlan[] {
    return this.#currentOf(query)?.plans ?? this.plan(query);
  }

  /** The pipeline that another user of the query would share. */
  #currentOf({ key }: LiveQuery): RunningQuery | undefined {
    const running = this.#pipelines.get(key)?.running;
    return running?.isUsable === true ? running : undefined;
  }

  #create(query: LiveQuery): QueryChannel {
    const informers = this.#informers;
    return new QueryChannel(
      {
        isOverClusters: informers.isOverClusters === true,
        created$: informers.created$ ?? EMPTY,
        isReady: () =>
          this.#currentOf(query) !== undefined ||
          this.plan(query).every(({ use }) => use !== 'new'),
        enter: (channel) => {
          const known = this.#currentOf(query);
          const leaveKnown = known?.enter();
          if (known !== undefined && leaveKnown !== undefined) {
            return { running: known, leave: leaveKnown };
          }
          const running = this.#begin(query, channel);
          return { running, leave: running.enter() as () => void };
        },
      },
      this.#options,
    );
  }

  #begin(query: LiveQuery, channel: QueryChannel): RunningQuery {
    const informers = this.#informers;
    const pipelines = this.#pipelines;
    const running: RunningQuery = new RunningQuery({
      query,
      plans: this.plan(query),
      informers,
      lingerMs: this.#lingerMs,
      scheduler: informers.scheduler,
      layer: this.#layer,
      firstRows: this.#firstRows,
      onEnd: () => {
        if (pipelines.get(query.key)?.running === running) pipelines.delete(query.key);
      },
    });
    pipelines.set(query.key, { running, channel });
    return running;
  }
}
