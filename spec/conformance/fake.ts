/** The fake API server as a server under test, in process or over a socket. */
import { roles } from 'rx-informer/resources';
import {
  createFakeApiServer,
  defaultResources,
  type FakeApiServerOptions,
} from 'rx-informer/testing';
import { defineResource } from '../../lib/meta/resource.ts';
import { type ApiServer, minorOf, post, WIDGET_COLUMNS, WIDGETS } from './api-server.ts';
import { overFetch } from './over-fetch.ts';

export async function openFake(
  served: boolean,
  options: FakeApiServerOptions = {},
): Promise<ApiServer> {
  const fake = createFakeApiServer({
    initialResourceVersion: '1000',
    checkNamespaces: true,
    resources: [...defaultResources, roles],
    ...options,
  });
  fake.addResource(defineResource(WIDGETS), { printerColumns: WIDGET_COLUMNS });
  const socket = served ? await fake.serve() : undefined;
  const http =
    socket === undefined
      ? overFetch(fake.fetch, 'http://fake')
      : overFetch(globalThis.fetch, socket.url);
  let namespaces = 0;
  const server: ApiServer = {
    ...http,
    minor: await minorOf(http),
    close: async () => socket?.close(),
    compact: async () => fake.objects.compact(),
    async freshNamespace() {
      const name = `conformance-${++namespaces}`;
      await post(server, '/api/v1/namespaces', { metadata: { name } });
      return name;
    },
    capabilities: { widgets: true, fieldOwnership: false, garbageCollection: false },
  };
  return server;
}
