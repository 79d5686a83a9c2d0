/**
 * The worker that all tabs share: one factory of informers, and the queries over them. Where the browser has no worker, the
 * page runs this module itself.
 */
import { askedQueries, type ServedQueries, serveQueries } from 'rx-informer/worker';
import { factoryOf, storeOf } from './cluster-factory.ts';
import { queries as ofCluster } from './named-queries.ts';

const queries = {
  ...ofCluster,
  /** Which tab asks what. Each page sends a text of its own, by which it finds itself. */
  asked: (_page: string) => askedQueries(served),
};

export type Queries = typeof queries;

export const served: ServedQueries = serveQueries({
  createFactory: factoryOf,
  persist: storeOf,
  queries,
});
