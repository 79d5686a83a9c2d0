/**
 * Creates factories: of typed informers, and of informers for resources that are identified by group, version and
 * plural only. client-go: informers/factory.go, NewSharedInformerFactoryWithOptions;
 * dynamic/dynamicinformer/informer.go, metadata/metadatainformer/informer.go.
 */

import type { PartialObjectMetadata, TableRow } from '../decode/projection.ts';
import type { SharedInformer } from '../informer/shared-informer.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { defineResource, type GroupVersionResource, type Resource } from '../meta/resource.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { createLister } from './create-lister.ts';
import { FactoryInformers, informersOfFactory, noteInformers } from './factory-informers.ts';
import type {
  FactoryLife,
  InformerFactory,
  InformerHandle,
  TableInformer,
} from './informer-factory.ts';
import type { Lister } from './lister.ts';
import type { AnyInformer } from './make-informer.ts';
import type { InformerFactoryOptions } from './options.ts';
import { whenAllSynced } from './readiness.ts';
import type { InformerScope, ReadScope } from './scope.ts';

/**
 * Creates a factory, which returns the same informer for the same resource, scope and projection.
 *
 * Nothing is sent before `start()`. Throws a `TypeError` if another factory of that name has not been stopped, and if an option
 * is not a valid number.
 *
 * @example
 * ```ts
 * import { createClient, createInformerFactory } from 'rx-informer';
 * import { configMaps, pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
 * server.objects.create(pods, { metadata: { namespace: 'till', name: 'cash-0' } });
 * server.objects.create(pods, { metadata: { namespace: 'other', name: 'no' } });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const factory = createInformerFactory(client, { namespaces: ['shop', 'till'] });
 * const lister = factory.lister(pods);
 * factory.informer(configMaps, { namespace: 'shop' });
 * factory.start();
 * await factory.whenSynced({ timeoutMs: 5_000 });
 *
 * lister.list().map(({ metadata }) => metadata.name); // => ['web-0', 'cash-0']
 * factory.informers; // => ['pods/shop+till', 'configmaps/shop']
 * factory.informer(pods) === factory.informer(pods, { namespaces: ['till', 'shop'] }); // => true
 * await factory.stop();
 * ```
 */
export function createInformerFactory(
  client: KubeClient,
  options: InformerFactoryOptions = {},
): InformerFactory {
  const informers = new FactoryInformers(client, options);
  type R = Resource<KubernetesObject>;
  const listers = new WeakMap<AnyInformer, Lister<KubernetesObject>>();
  const listerOf = (resource: R, { namespaces }: ReadScope, informer: AnyInformer) => {
    const known = listers.get(informer);
    if (known !== undefined) return known;
    // Without a kind it is not known whether the resource is namespaced.
    const { group, version, plural } = resource;
    const listed = resource.kind === '' ? { group, version, plural } : resource;
    const namespace = namespaces.length > 1 ? undefined : namespaces[0];
    const lister = createLister(informer, listed, { namespace, onWarning: options.onWarning });
    listers.set(informer, lister);
    return lister;
  };
  const factory = {
    name: informers.name,
    get informers() {
      return informers.names;
    },
    informer: (resource: R, scope?: InformerScope) => informers.keep(resource, scope).informer,
    lister: (resource: R, given?: InformerScope) => {
      const { informer, scope } = informers.keep(resource, given);
      return listerOf(resource, scope, informer);
    },
    acquire: (resource: R, given?: InformerScope) => {
      const { informer, scope, release } = informers.acquire(resource, given);
      return { informer, lister: listerOf(resource, scope, informer), release };
    },
    start: () => informers.start(),
    whenSynced: (wait?: Parameters<InformerFactory['whenSynced']>[0]) =>
      whenAllSynced(informers.entries, wait),
    stop: (resource?: R, scope?: InformerScope) =>
      resource === undefined ? informers.stop() : informers.stopOne(resource, scope),
  };
  // The resource and `as` determine the type of the objects.
  return noteInformers(factory, informers) as InformerFactory;
}

type ObjectScope = InformerScope & { readonly as?: 'object' };
type MetadataScope = InformerScope & { readonly as: 'metadata' };
type TableScope = InformerScope & { readonly as: 'table' };

/** Like `InformerFactory`, for any group, version and plural. Objects have the kind that the server sends. */
export interface DynamicInformerFactory extends FactoryLife {
  informer(gvr: GroupVersionResource, scope?: ObjectScope): SharedInformer<KubernetesObject>;
  informer(gvr: GroupVersionResource, scope: MetadataScope): SharedInformer<PartialObjectMetadata>;
  informer(gvr: GroupVersionResource, scope: TableScope): TableInformer;
  lister(gvr: GroupVersionResource, scope?: ObjectScope): Lister<KubernetesObject>;
  lister(gvr: GroupVersionResource, scope: MetadataScope): Lister<PartialObjectMetadata>;
  lister(gvr: GroupVersionResource, scope: TableScope): Lister<TableRow>;
  acquire(gvr: GroupVersionResource, scope?: ObjectScope): InformerHandle<KubernetesObject>;
  acquire(gvr: GroupVersionResource, scope: MetadataScope): InformerHandle<PartialObjectMetadata>;
  acquire(gvr: GroupVersionResource, scope: TableScope): InformerHandle<TableRow, TableInformer>;
  stop(): Promise<void>;
  stop(gvr: GroupVersionResource, scope?: InformerScope): Promise<void>;
}

/** A resource without a kind: its objects keep the kind that they have, or take that of their list. */
function resourceOf(gvr: GroupVersionResource): Resource {
  if ('kind' in gvr && 'apiVersion' in gvr) return gvr as Resource;
  const { group, version, plural } = gvr;
  const checked = defineResource({ group, version, plural, kind: 'Any', namespaced: true });
  return { ...checked, kind: '' };
}

/**
 * Creates a factory for any resource, by group, version and plural, without discovery. The kind is that of the objects or of
 * their list. A `Resource` is accepted as well, and shares its informer with the same group, version and plural.
 *
 * Nothing is sent before `start()`. Objects are typed `KubernetesObject`; the caller may narrow them. Whether a resource is
 * namespaced is not known, so a namespace for a cluster-scoped resource leads to a 404 of the server, in the status.
 *
 * @example
 * ```ts
 * import { createClient, createDynamicInformerFactory } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const factory = createDynamicInformerFactory(client);
 * const lister = factory.lister({ group: '', version: 'v1', plural: 'pods' }, { namespace: 'shop' });
 * factory.start();
 * await factory.whenSynced({ timeoutMs: 5_000 });
 * lister.get('web-0').kind; // => 'Pod'
 * await factory.stop();
 * ```
 */
export function createDynamicInformerFactory(
  client: KubeClient,
  options: InformerFactoryOptions = {},
): DynamicInformerFactory {
  const factory = createInformerFactory(client, options);
  type G = GroupVersionResource;
  type S = ObjectScope;
  const dynamic = {
    name: factory.name,
    get informers() {
      return factory.informers;
    },
    informer: (gvr: G, scope?: S) => factory.informer(resourceOf(gvr), scope),
    lister: (gvr: G, scope?: S) => factory.lister(resourceOf(gvr), scope),
    acquire: (gvr: G, scope?: S) => factory.acquire(resourceOf(gvr), scope),
    start: () => factory.start(),
    whenSynced: (wait?: Parameters<typeof factory.whenSynced>[0]) => factory.whenSynced(wait),
    stop: (gvr?: G, scope?: InformerScope) =>
      gvr === undefined ? factory.stop() : factory.stop(resourceOf(gvr), scope),
  };
  const informers = informersOfFactory('createDynamicInformerFactory', factory);
  return noteInformers(dynamic, informers) as DynamicInformerFactory;
}
