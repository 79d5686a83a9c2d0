/** The types of clients, also at run time, and types of the platform and of optional packages, which are assignable without a cast. */

import { KubeConfig } from '@kubernetes/client-node';
import {
  type ClientOf,
  createClient,
  createResourceClient,
  type Fetch,
  type FetchInit,
  type KubeClient,
  type KubernetesObject,
  type Patch,
  type PodClient,
  type Resource,
  type ResourceClient,
} from 'rx-informer';
import { createUndiciTransport, type DispatcherLike, type KubeConfigLike } from 'rx-informer/node';
import * as resources from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { Agent, MockAgent, type ProxyAgent, fetch as undiciFetch } from 'undici';
import { describe, expect, expectTypeOf, it } from 'vitest';

const client = {} as KubeClient;

function generic<T extends KubernetesObject>(resource: Resource<T>): ResourceClient<T> {
  return createResourceClient(client, resource);
}

describe('types of clients', () => {
  it('C1: only a client of pods has log and evict', () => {
    const pods = createResourceClient(client, resources.pods);
    expectTypeOf(pods).toEqualTypeOf<PodClient<resources.Pod>>();
    expectTypeOf(pods.namespace('shop').log).toBeFunction();
    expect(pods.namespace('shop').log).toBeTypeOf('function');
    const deployments = createResourceClient(client, resources.deployments);
    expectTypeOf(deployments).toEqualTypeOf<ResourceClient<resources.Deployment>>();
    expect('log' in deployments).toBe(false);
    expectTypeOf<ClientOf<KubernetesObject>>().toEqualTypeOf<ResourceClient<KubernetesObject>>();
    interface Kindless {
      metadata: { name: string };
    }
    expectTypeOf<ClientOf<Kindless>>().toEqualTypeOf<ResourceClient<Kindless>>();
  });

  it('C1: every built-in resource has a typed client', () => {
    const all = Object.values(resources);
    expect(all.length).toBeGreaterThan(80);
    for (const resource of all) {
      expect(generic(resource as Resource).resource).toBe(resource);
    }
    const update = createResourceClient(client, resources.configMaps).update;
    expectTypeOf(update).parameter(0).toEqualTypeOf<resources.ConfigMap>();
  });

  it('C2: the type of a strategic merge patch has the directives', () => {
    type Sent = Patch<resources.Deployment>;
    const patch: Sent = {
      strategic: {
        spec: { template: { spec: { containers: [{ name: 'c', $patch: 'delete' }] } } },
      },
    };
    const finalizers = { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] };
    const spec = { selector: {}, template: {} };
    const deployment: resources.Deployment = { metadata: { name: 'web' }, spec };
    const more: Sent[] = [{ strategic: { metadata: finalizers } }, { strategic: deployment }];
    expect(more).toHaveLength(2);
    // @ts-expect-error: no such field
    const wrong: Sent = { strategic: { spec: { replikas: 1 } } };
    expect([patch, wrong]).toHaveLength(2);
  });

  it('C12: the draft of a recipe is mutable', () => {
    const edit = createResourceClient(client, resources.deployments).edit;
    type Recipe = Parameters<typeof edit>[1];
    const recipe: Recipe = (draft) => {
      if (draft.spec) draft.spec.replicas = 3;
      draft.metadata.labels = { ...draft.metadata.labels, app: 'web' };
      // @ts-expect-error: the field is a number
      if (draft.spec) draft.spec.replicas = '3';
    };
    const deployment = { metadata: {}, spec: { replicas: 1 } };
    recipe(deployment as Parameters<Recipe>[0]);
    expect(deployment).toMatchObject({ metadata: { labels: { app: 'web' } } });
  });
});

describe('types of platforms', () => {
  it('T40: the fetch of browsers, Node, undici and the fake server is assignable to the option fetch', async () => {
    const server = createFakeApiServer();
    const page: (input: RequestInfo | URL, init?: RequestInit) => Promise<Response> = server.fetch;
    const all: readonly Fetch[] = [globalThis.fetch, undiciFetch, page, server.fetch];
    expect(all).toHaveLength(4);
    expectTypeOf<FetchInit>().toExtend<RequestInit>();
    const logging = createClient({
      baseUrl: 'http://fake',
      fetch: (input, init) => server.fetch(input, { ...init, keepalive: false }),
    });
    expect(await logging.request({ path: '/api/v1/pods' })).toMatchObject({ kind: 'PodList' });
  });

  it('T40: a KubeConfig of client-node and a dispatcher of undici are assignable', async () => {
    const config: KubeConfigLike = new KubeConfig();
    expect(config.applyToHTTPSOptions).toBeTypeOf('function');
    const agent = new Agent();
    const dispatchers: readonly DispatcherLike[] = [agent, new MockAgent()];
    expectTypeOf<ProxyAgent>().toExtend<DispatcherLike>();
    const baseUrl = 'http://127.0.0.1:1';
    await createUndiciTransport({ baseUrl, dispatcher: agent }).close();
    await Promise.all(dispatchers.map((each) => (each as Agent).close()));
    // @ts-expect-error: options of a client are not a kubeconfig
    const not: KubeConfigLike = { baseUrl };
    expect(not).toBeDefined();
  });
});
