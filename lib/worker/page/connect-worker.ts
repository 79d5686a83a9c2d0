/** `connectWorker`, which asks a worker for the answers of queries. */
import { connectTab } from './connect-peer.ts';
import { thisPage } from './page-life.ts';
import type { ConnectWorkerOptions, WorkerCluster } from './worker-cluster.ts';

/**
 * Connects a page to the worker that answers its queries ({@link serveQueries}). All pages of an origin share a
 * SharedWorker, so that there is one watch and one pipeline for equal queries, whatever the number of tabs. Give the hosts
 * as literals, because bundlers look for `new SharedWorker(new URL('./file', import.meta.url))`. They are tried in the order
 * `shared`, `dedicated`, `page`.
 *
 * A worker that has died is started again, and every query is asked again. Views keep their rows meanwhile, with `stale: true`. If
 * no worker can be started, for example after a deployment, views say so and the page must be reloaded.
 *
 * Throws a `TypeError` on an invalid option.
 *
 * @example
 * ```ts no-run
 * import { liveQuery } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { connectWorker } from 'rx-informer/worker';
 *
 * const cluster = connectWorker({
 *   identity: 'user-7',
 *   shared: () => new SharedWorker(new URL('./cluster.worker.ts', import.meta.url), { type: 'module' }),
 * });
 * const view = cluster.view(liveQuery({ from: pods, select: { name: 'metadata.name' } }));
 * view.subscribe(() => console.log(view.getSnapshot().rows));
 * ```
 */
export function connectWorker(options: ConnectWorkerOptions): WorkerCluster {
  return connectTab(options, thisPage(options.scheduler));
}
