/** Creates a factory of typed informers. client-go: informers/factory.go, NewSharedInformerFactoryWithOptions. */
import { createLister } from '../lister/create-lister.ts';
import type { Lister } from '../lister/lister.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { FactoryInformers, noteInformers } from './factory-informers.ts';
import type { InformerFactory } from './informer-factory.ts';
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
  return noteInformers(factory, informers) as unknown as InformerFactory;
}
