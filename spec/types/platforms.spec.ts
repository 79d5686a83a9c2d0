/** Types of the platform and of optional packages are assignable without a cast. Checked by `tsc`. */
import { KubeConfig } from '@kubernetes/client-node';
import { createClient, type Fetch, type FetchInit } from 'rx-informer';
import { createUndiciTransport, type DispatcherLike, type KubeConfigLike } from 'rx-informer/node';
import { createFakeApiServer } from 'rx-informer/testing';
import { Agent, MockAgent, type ProxyAgent, fetch as undiciFetch } from 'undici';
import { describe, expect, expectTypeOf, it } from 'vitest';

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
