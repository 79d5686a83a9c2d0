/** `createLiveQueries`: the answers of queries, with informers of a factory. */
import { checkedFunction, checkedWord, ifGiven } from '../../checks/checked-option.ts';
import { checkedQuery, type LiveQuery } from '../../query/live-query/live-query.ts';
import type { View } from '../../query/view/view.ts';
import type { ChangeSet, OrderedChangeSet } from '../../store/change-set.ts';
import type { ChangeStream, OrderedChangeStream, SetStream } from '../../store/change-stream.ts';
import type { Clusters } from '../clusters/create-clusters.ts';
import type { DynamicInformerFactory } from '../create-informer-factory.ts';
import { informersOfFactory } from '../factory-informers.ts';
import type { InformerFactory } from '../informer-factory.ts';
import { explanationOf, type QueryExplanation } from './explain.ts';
import type { LiveQueriesOptions } from './query-channel.ts';
import { SharedQueries } from './shared-queries.ts';

/** The stream of a query: ordered if the query has an order. */
export type QueryStream<Row, Ordered extends boolean> = [Ordered] extends [true]
  ? OrderedChangeStream<Row>
  : [Ordered] extends [false]
    ? ChangeStream<Row>
    : SetStream<ChangeSet<Row> | OrderedChangeSet<Row>>;

/**
 * The answers of queries. Equal queries share one pipeline while somebody uses it, and for the linger after that. Then
 * nothing of it is left.
 */
export interface LiveQueries {
  /** The change sets of a query. Nothing is read before the first subscription. */
  stream<Row, Ordered extends boolean>(query: LiveQuery<Row, Ordered>): QueryStream<Row, Ordered>;
  /** The rows of a query for a page: the same view for equal queries while they are used. */
  view<Row>(query: LiveQuery<Row>): View<Row>;
  /** Explains what a query reads from where: now if it runs, otherwise if it was subscribed now. */
  explain(query: LiveQuery): QueryExplanation;
  /** How many pipelines there are, those that linger included. */
  readonly size: number;
}

/**
 * Creates live queries over the informers of a factory, or over many clusters ({@link createClusters}).
 *
 * Only `from`, `as`, `namespace`, `labelSelector` and `fieldSelector` of a query reach a request. A query whose objects a running
 * informer of the factory has reads that informer, and selects the rest locally, from the objects as they are stored, after
 * the transform. A query over several namespaces may read several running informers, and a new one for the other
 * namespaces. Otherwise an informer is created, as by `factory.acquire`. An equality on an index, or on
 * `metadata.namespace`, reads the index.
 *
 * Streams and views complete and continue as those of informers do: a stop of the factory completes a stream, and a view
 * continues with the next run. Throws a `TypeError` if the factory is not one of this library, or on an invalid option;
 * `stream`, `view` and `explain` throw one if a query names an index that the factory's informers do not have.
 *
 * @example
 * ```ts
 * import { createClient, createInformerFactory, createLiveQueries, liveQuery } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * for (const [name, phase] of [['web', 'Running'], ['db', 'Pending'], ['job', 'Failed']] as const) {
 *   server.objects.create(pods, { metadata: { namespace: 'shop', name }, status: { phase } });
 * }
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const factory = createInformerFactory(client);
 * const queries = createLiveQueries(factory);
 * const troubled = liveQuery({
 *   from: pods,
 *   where: { path: 'status.phase', in: ['Pending', 'Failed'] },
 *   select: { name: 'metadata.name', phase: 'status.phase' },
 *   orderBy: { path: 'metadata.name' },
 * });
 * const view = queries.view(troubled);
 * const leave = view.subscribe(() => undefined);
 * factory.start();
 * await factory.whenSynced({ timeoutMs: 5_000 });
 * view.getSnapshot().rows; // => [{ name: 'db', phase: 'Pending' }, { name: 'job', phase: 'Failed' }]
 * queries.explain(troubled).sources[0]?.informer; // => 'pods'
 * leave();
 * await factory.stop();
 * ```
 */
export function createLiveQueries(
  factory: InformerFactory | DynamicInformerFactory | Clusters,
  options: LiveQueriesOptions = {},
): LiveQueries {
  const { ready, mutationGuard } = options;
  const must = 'a function, such as animationFrames()';
  ifGiven(checkedFunction, ready, 'createLiveQueries: ready', must);
  ifGiven(checkedWord, mutationGuard, 'createLiveQueries: mutationGuard', ['freeze', 'off']);
  return liveQueriesOver(
    new SharedQueries(informersOfFactory('createLiveQueries', factory), options),
  );
}

/** The public side of shared queries. */
export function liveQueriesOver(
  queries: Pick<SharedQueries, 'channelOf' | 'plansOf' | 'size'>,
): LiveQueries {
  return {
    stream: (query: LiveQuery) => queries.channelOf(query).stream as never,
    view: (query: LiveQuery) => queries.channelOf(query).view as never,
    explain: (given) => {
      const query = checkedQuery(given);
      return explanationOf(query, queries.plansOf(query));
    },
    get size() {
      return queries.size;
    },
  };
}
