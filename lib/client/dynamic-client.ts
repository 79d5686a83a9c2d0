/** Clients of resources whose names are known only at run time. client-go: dynamic/simple.go. */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { GroupVersionResource, Resource } from '../meta/resource.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { CallOptions } from './call-options.ts';
import { createResourceClient, type ResourceClientOptions } from './create-resource-client.ts';
import { createDiscovery } from './discovery.ts';
import type { ClientOf, ResourceClient } from './resource-client.ts';
import { createRestMapper, isResource, type KindName, type RestMapper } from './rest-mapper.ts';

/** An object of unknown type: client-go's `unstructured.Unstructured`. */
export interface DynamicObject extends KubernetesObject {
  [field: string]: unknown;
}

/** The options of {@link createDynamicClient}. */
export interface DynamicClientOptions extends ResourceClientOptions {
  /** Maps names to resources. @defaultValue a mapper that uses the discovery of the server */
  readonly mapper?: RestMapper | undefined;
}

/** Creates clients of any resource. */
export interface DynamicClient {
  /** Returns the client of a known resource, without a request. */
  resource<T extends KubernetesObject>(resource: Resource<T>): ClientOf<T>;
  /**
   * Returns the client of the resource with this name: `'widgets.example.com'`, a group, version and plural, or a kind
   * as in a manifest. Rejects with an `ApiError` with reason `NoMatch` if the server has no such resource.
   */
  resource(
    name: string | GroupVersionResource | KindName,
    options?: CallOptions,
  ): Promise<ResourceClient<DynamicObject>>;
  readonly mapper: RestMapper;
}

/**
 * Creates clients of any resource of a server, built-in or custom.
 *
 * @example
 * ```ts
 * import { createClient, createDynamicClient } from 'rx-informer';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
 * const dynamic = createDynamicClient(client);
 * const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'prices' }, data: { tea: '3' } };
 * const shop = (await dynamic.resource(manifest)).namespace('shop');
 * const created = await shop.create(manifest);
 * created.data; // => { tea: '3' }
 * ```
 */
export function createDynamicClient(
  client: KubeClient,
  options: DynamicClientOptions = {},
): DynamicClient {
  const mapper =
    options.mapper ??
    createRestMapper(
      createDiscovery(client),
      options.scheduler === undefined ? {} : { scheduler: options.scheduler },
    );
  const find = async (
    name: string | GroupVersionResource | KindName,
    call: CallOptions,
  ): Promise<ResourceClient<DynamicObject>> => {
    const byKind = typeof name === 'object' && 'kind' in name;
    const resource = await (byKind ? mapper.forKind(name, call) : mapper.forPlural(name, call));
    return createResourceClient<DynamicObject>(
      client,
      resource as Resource<DynamicObject>,
      options,
    );
  };
  return {
    mapper,
    resource: ((
      name: string | GroupVersionResource | KindName | Resource<KubernetesObject>,
      call: CallOptions = {},
    ) =>
      typeof name === 'object' && isResource(name)
        ? createResourceClient(client, name, options)
        : find(name, call)) as DynamicClient['resource'],
  };
}
