/** The fake server must do all that the suite sees a real one do, in process and over a socket. */
import { createFakeApiServer } from 'rx-informer/testing';
import { expect, it } from 'vitest';
import { defineResource } from '../../lib/meta/resource.ts';
import { type ApiServer, post, WIDGET_COLUMNS, WIDGETS } from './api-server.ts';
import { overFetch } from './over-fetch.ts';
import { apiServerConformance } from './suite.ts';

async function openFake(served: boolean): Promise<ApiServer> {
  const fake = createFakeApiServer({
    initialResourceVersion: '1000',
    checkNamespaces: true,
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

it('A1: differs from a real server on purpose only where the suite can tell', async () => {
  const { capabilities } = await openFake(false);
  const lacking = Object.entries(capabilities).filter(([, has]) => !has);
  expect(lacking.map(([name]) => name)).toEqual(['fieldOwnership', 'garbageCollection']);
});

apiServerConformance('the fake, in process', () => openFake(false));
apiServerConformance('the fake, over HTTP', () => openFake(true));
