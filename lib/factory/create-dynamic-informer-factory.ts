/**
 * A factory for resources that are known by their name only. client-go: dynamic/dynamicinformer/informer.go,
 * metadata/metadatainformer/informer.go.
 */
import type { PartialObjectMetadata, TableRow } from '../decode/projection.ts';
import type { SharedInformer } from '../informer/shared-informer.ts';
import type { Lister } from '../lister/lister.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { defineResource, type GroupVersionResource, type Resource } from '../meta/resource.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { createInformerFactory } from './create-informer-factory.ts';
import type { FactoryLife, InformerHandle, TableInformer } from './informer-factory.ts';
import type { InformerFactoryOptions } from './options.ts';
import type { InformerScope } from './scope.ts';

type Whole = InformerScope & { readonly as?: 'object' };
type Metadata = InformerScope & { readonly as: 'metadata' };
type Table = InformerScope & { readonly as: 'table' };

/** As `InformerFactory`, for any group, version and plural; objects are what the server sends. */
export interface DynamicInformerFactory extends FactoryLife {
  informer(gvr: GroupVersionResource, scope?: Whole): SharedInformer<KubernetesObject>;
  informer(gvr: GroupVersionResource, scope: Metadata): SharedInformer<PartialObjectMetadata>;
  informer(gvr: GroupVersionResource, scope: Table): TableInformer;
  lister(gvr: GroupVersionResource, scope?: Whole): Lister<KubernetesObject>;
  lister(gvr: GroupVersionResource, scope: Metadata): Lister<PartialObjectMetadata>;
  lister(gvr: GroupVersionResource, scope: Table): Lister<TableRow>;
  acquire(gvr: GroupVersionResource, scope?: Whole): InformerHandle<KubernetesObject>;
  acquire(gvr: GroupVersionResource, scope: Metadata): InformerHandle<PartialObjectMetadata>;
  acquire(gvr: GroupVersionResource, scope: Table): InformerHandle<TableRow, TableInformer>;
  stop(): Promise<void>;
  stop(gvr: GroupVersionResource, scope?: InformerScope): Promise<void>;
}

/** Without a kind: objects keep the one they come with, or take that of their list. */
function resourceOf(gvr: GroupVersionResource): Resource {
  if ('kind' in gvr && 'apiVersion' in gvr) return gvr as Resource;
  const { group, version, plural } = gvr;
  const checked = defineResource({ group, version, plural, kind: 'Any', namespaced: true });
  return { ...checked, kind: '' };
}

/**
 * A factory for any resource, by group, version and plural, without discovery: the kind is that of the objects,
 * or of their list. A `Resource` does as well and shares its informer with the bare name.
 *
 * Nothing is sent before `start()`. Objects are `KubernetesObject`: what more they have is for the caller to say.
 * Whether a bare name is namespaced is not known, so a namespace that does not fit is the server's 404, in the status.
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
  type S = Whole;
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
  return dynamic as unknown as DynamicInformerFactory;
}
