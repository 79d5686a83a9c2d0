/** The fake API server as a server under test, in process or over a socket. */

import { defineResource } from 'rx-informer';
import { roles } from 'rx-informer/resources';
import {
  type AccessRule,
  createFakeApiServer,
  defaultResources,
  type FakeApiServerOptions,
  permittedBy,
} from 'rx-informer/testing';
import { type ApiServer, minorOf, post, WIDGET_COLUMNS, WIDGETS } from './api-server.ts';
import { overFetch } from './over-fetch.ts';

export async function openFake(
  served: boolean,
  options: FakeApiServerOptions = {},
): Promise<ApiServer> {
  const users = new Map<string, AccessRule>();
  const fake = createFakeApiServer({
    allows: (asked) => users.get(asked.user ?? '')?.(asked) ?? true,
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
    async userWith(namespace, ...rules) {
      const user = `user-${users.size}`;
      const type = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' } as const;
      users.set(
        user,
        permittedBy([{ ...type, metadata: { name: user, namespace }, rules: [...rules] }]),
      );
      return { 'impersonate-user': user };
    },
    capabilities: { widgets: true, fieldOwnership: false, garbageCollection: false },
  };
  return server;
}
