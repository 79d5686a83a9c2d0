/** `createClusters`: the informers of many clusters as one. */
import { Observable, type Observable as Stream, type Subscriber } from 'rxjs';
import type { PartialObjectMetadata } from '../../decode/projection.ts';
import type { SyncWaitOptions } from '../../informer/waits.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { Resource } from '../../meta/resource.ts';
import { Hub } from '../../rx/sharing/hub.ts';
import type { KubeClient } from '../../transport/kube-client.ts';
import { createInformerFactory } from '../create-informer-factory.ts';
import { noteInformers } from '../factory-informers.ts';
import type { InformerFactory } from '../informer-factory.ts';
import type { InformerFactoryOptions } from '../options.ts';
import type { InformerScope } from '../scope.ts';
import { ClusterInformers } from './cluster-informers.ts';
import type { ClustersInformer } from './clusters-informer.ts';
import type { ClientsByName, Member } from './members.ts';
import type { ClustersStatus } from './merged-status.ts';

/** Options of {@link createClusters}: those of the factory of each cluster. */
export interface ClustersOptions extends InformerFactoryOptions {
  /**
   * Creates the factory of a cluster. The factory is started and stopped with the cluster.
   * @defaultValue {@link createInformerFactory} with the other options
   */
  readonly factory?: ((client: KubeClient, cluster: string) => InformerFactory) | undefined;
}

/** One cluster: its name, its client, and the factory of its own informers. */
export type Cluster = Member;

/** A hold on an informer of all clusters. */
export interface ClustersHandle<T extends KubernetesObject> {
  readonly informer: ClustersInformer<T>;
  /** Releases the hold; further calls have no effect. After the last one, the informer lingers and is removed. */
  release(): void;
}

type ClustersScope = Omit<InformerScope, 'as'> & { readonly as?: 'object' };
type ClustersMetadataScope = Omit<InformerScope, 'as'> & { readonly as: 'metadata' };

/** The informers of many clusters: one per resource and scope, over all clusters. */
export interface Clusters {
  /** The names of the clusters that exist at present. */
  readonly names: readonly string[];
  /** The cluster of a name, or of a key as `informer` and controllers have it: `east` or `east/shop/web-0`. */
  get(nameOrKey: string): Cluster | undefined;
  /** Returns the informer of a scope in all clusters. Throws a `TypeError` if the scope is impossible. */
  informer<T extends KubernetesObject>(
    resource: Resource<T>,
    scope?: ClustersScope,
  ): ClustersInformer<T>;
  informer(
    resource: Resource<KubernetesObject>,
    scope: ClustersMetadataScope,
  ): ClustersInformer<PartialObjectMetadata>;
  /** Holds the informer of a scope until the handle is released. */
  acquire<T extends KubernetesObject>(
    resource: Resource<T>,
    scope?: ClustersScope,
  ): ClustersHandle<T>;
  acquire(
    resource: Resource<KubernetesObject>,
    scope: ClustersMetadataScope,
  ): ClustersHandle<PartialObjectMetadata>;
  /** The state of each cluster, also in words. */
  readonly status: ClustersStatus;
  /** Emits the status on subscription, then each transition. Never errors or completes. Starts nothing. */
  readonly status$: Stream<ClustersStatus>;
  /** Follows `clients$` and starts the informers of each cluster. */
  start(): void;
  /**
   * Resolves when all requested informers are synced: each cluster has a complete list, or its first list has failed.
   * Rejects with the causes when `timeoutMs` has passed, and when the clusters are stopped.
   */
  whenSynced(options?: SyncWaitOptions): Promise<void>;
  /** Stops the informers of all clusters and unsubscribes from `clients$`. The clients stay open. */
  stop(): Promise<void>;
}

/**
 * Shows many clusters in one view: each informer is merged of the informers of all clusters.
 *
 * `clients$` emits the clients by the names of their clusters. A name that is new adds a cluster; a name that is absent
 * removes its cluster, and its rows leave; another client under a name replaces the cluster. A value with equal clients
 * changes nothing. The clients belong to the caller and are not closed. If `clients$` errors, the clusters stay as they
 * are, and `status` says so.
 *
 * The name of the cluster stands before each id and key, as in `liveUnion`: `east/shop/web-0`. A cluster that
 * cannot be reached delays no other cluster: it is listed with its error in `status`, its last rows stay, and its
 * changes arrive when it can be reached again. `createLiveQueries(clusters)` answers queries over all clusters, and
 * `createController` reconciles their objects, with {@link reconcileInCluster}.
 *
 * Nothing is sent before `start()`, or before the data of an informer is subscribed. Throws a `TypeError` if `clients$`
 * is no Observable, or if an option is invalid.
 *
 * ```
 * clients$   {east}----{east,west}---------{west}
 * east       +a---------------------a'--x              x: unsubscribed
 * west                 +b------------
 * result     +a--------+b-----------a'-----(-a)
 * ```
 *
 * @example
 * ```ts
 * import { createClient, createClusters, toView } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 * import { of } from 'rxjs';
 *
 * const clientOf = (cluster: string) => {
 *   const server = createFakeApiServer();
 *   server.objects.create(pods, { metadata: { namespace: 'shop', name: `web-${cluster}` } });
 *   return createClient({ baseUrl: `http://${cluster}`, fetch: server.fetch });
 * };
 * const clusters = createClusters(of({ east: clientOf('east'), west: clientOf('west') }));
 * const informer = clusters.informer(pods);
 * const view = toView(informer.changes$);
 * const leave = view.subscribe(() => undefined);
 * clusters.start();
 * await clusters.whenSynced({ timeoutMs: 5_000 });
 * view.getSnapshot().rows.map(({ metadata }) => metadata.name); // => ['web-east', 'web-west']
 * informer.indexer.getByKey('west/shop/web-west')?.metadata.name; // => 'web-west'
 * clusters.get('west/shop/web-west')?.client.baseUrl; // => 'http://west'
 * clusters.status.text; // => '2 of 2 clusters live'
 * leave();
 * await clusters.stop();
 * ```
 */
export function createClusters(
  clients$: Stream<ClientsByName>,
  options: ClustersOptions = {},
): Clusters {
  const { factory, name, onWarning, ...shared } = options;
  const create = (client: KubeClient, cluster: string): InformerFactory => {
    if (factory !== undefined) return factory(client, cluster);
    return createInformerFactory(client, {
      ...shared,
      ...(name === undefined ? {} : { name: `${name}/${cluster}` }),
      ...(onWarning === undefined
        ? {}
        : { onWarning: (message) => onWarning(`${cluster}/${message}`) }),
    });
  };
  const observers = new Hub<Subscriber<ClustersStatus>>();
  const informers = new ClusterInformers(clients$, create, options, () => {
    // It describes every cluster, so it is made only for an observer.
    if (observers.size === 0) return;
    const { status } = informers;
    observers.tell((observer) => observer.next(status));
  });
  const clusters: Clusters = {
    get names() {
      return [...informers.members.current.keys()];
    },
    get: (nameOrKey) => informers.members.current.get(nameOrKey.split('/', 1)[0] as string),
    informer: (resource: Resource<KubernetesObject>, scope?: InformerScope) =>
      informers.keep(resource, scope) as never,
    acquire: (resource: Resource<KubernetesObject>, scope?: InformerScope) =>
      informers.acquire(resource, scope) as never,
    get status() {
      return informers.status;
    },
    status$: new Observable((subscriber) => {
      informers.enter(() => {
        subscriber.add(observers.add(subscriber));
        subscriber.next(informers.status);
      });
    }),
    start: () => informers.start(),
    whenSynced: (wait) => informers.whenSynced(wait),
    stop: () => informers.stop(),
  };
  return noteInformers(clusters, informers);
}
