/** Queries that a worker answers for all tabs of a browser. */

export type { WorkerQueries, WorkerQuery } from './carried-query.ts';
export { workerQuery } from './carried-query.ts';
export type { Credentials, Port } from './messages.ts';
export {
  type ConnectPaintedWorkerOptions,
  connectPaintedWorker,
  type PaintOptions,
} from './page/connect-painted-worker.ts';
export { connectWorker } from './page/connect-worker.ts';
export { editInWorker, type WorkerEditOptions } from './page/edit-in-worker.ts';
export type { HostKind, HostMakers, PortLike, SharedWorkerLike, WorkerLike } from './page/hosts.ts';
export type {
  ConnectWorkerOptions,
  WorkerCluster,
  WorkerConnection,
} from './page/worker-cluster.ts';
export {
  type AskedOfWorker,
  type AskedQueriesOptions,
  askedQueries,
} from './server/asked-queries.ts';
export {
  type ServedQueries,
  type ServeQueriesOptions,
  serveQueries,
} from './server/serve-queries.ts';
export type { SessionFactory, WorkerSession } from './server/session.ts';
