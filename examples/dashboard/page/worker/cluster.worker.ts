/**
 * The worker that all tabs share: one factory of informers, and the queries over them. Where the browser has no worker, the
 * page runs this module itself.
 */
import { type ServedQueries, serveQueries } from 'rx-informer/worker';
import { factoryOf, storeOf } from './cluster-factory.ts';
import { queries } from './named-queries.ts';

export const served: ServedQueries = serveQueries({
  createFactory: factoryOf,
  persist: storeOf,
  queries,
});
