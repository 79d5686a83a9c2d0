/** `reconcileInCluster`: gives a reconcile function the client of the cluster that its object is in. */
import type { Observable } from 'rxjs';
import type { Cluster, Clusters } from '../factory/clusters/create-clusters.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { ReconcileResult } from '../work-queue/reconcile-run.ts';
import type { ReconcileObject, ReconcileRequest } from './controller.ts';

/** The request that a reconcile in one of many clusters receives. */
export interface ClusterReconcileRequest<T extends KubernetesObject> extends ReconcileRequest<T> {
  /** The cluster of the object: its name, its client, and the factory of its informers. */
  readonly cluster: Cluster;
  /** The client of the cluster, for writes. */
  readonly client: KubeClient;
}

/** Brings the actual state of one cluster to the state that one of its objects desires. */
export type ReconcileInCluster<T extends KubernetesObject> = (
  key: string,
  request: ClusterReconcileRequest<T>,
) => ReconcileResult | Promise<ReconcileResult> | Observable<ReconcileResult>;

/**
 * Makes a reconcile function for a controller over many clusters. A key is `cluster/namespace/name`, and `name` of the
 * request has the namespace and the name without the cluster.
 *
 * If the cluster has left, the function is not called: its objects were not deleted, so there is nothing to clean up.
 *
 * @example
 * ```ts
 * import { createClient, createClusters, createController, reconcileInCluster } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 * import { of } from 'rxjs';
 *
 * const server = createFakeApiServer();
 * server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
 * const east = createClient({ baseUrl: 'http://east', fetch: server.fetch });
 * const clusters = createClusters(of({ east }));
 * const seen: string[] = [];
 * const controller = createController({
 *   for: clusters.informer(pods),
 *   reconcile: reconcileInCluster(clusters, (key, { name, client }) => {
 *     seen.push(`${key}: ${name.name} at ${client.baseUrl}`);
 *   }),
 * });
 * controller.start();
 * await controller.whenReady({ timeoutMs: 5_000 });
 * await controller.stop();
 * await clusters.stop();
 * seen; // => ['east/shop/web-0: web-0 at http://east']
 * ```
 */
export function reconcileInCluster<T extends KubernetesObject>(
  clusters: Pick<Clusters, 'get'>,
  reconcile: ReconcileInCluster<T>,
): ReconcileObject<T> {
  return (key, request) => {
    const cluster = clusters.get(key);
    if (cluster === undefined) return undefined;
    return reconcile(key, { ...request, cluster, client: cluster.client });
  };
}
