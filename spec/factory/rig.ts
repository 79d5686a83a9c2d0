/** A fake cluster with three namespaces, and a client for it. */
import {
  createClient,
  createInformerFactory,
  type InformerFactory,
  type InformerFactoryOptions,
  type KubeClient,
} from 'rx-informer';
import { nodes, pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';
import { onTestFinished } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { projections } from '../support/projections.ts';

export interface Rig {
  readonly server: FakeApiServer;
  readonly client: KubeClient;
  readonly time: VirtualTime;
  /** Lets time pass until the promise has settled. */
  until<T>(promise: Promise<T>): Promise<T>;
  /** A factory that is stopped when the test ends. */
  factory(options?: InformerFactoryOptions): InformerFactory;
  /** The paths of the requested collections, without duplicates. */
  requestedPaths(): string[];
}

export const place = (name: string, namespace = 'shop') => ({ name, namespace });

export function rig(): Rig {
  const time = new VirtualTime();
  const server = createFakeApiServer({ scheduler: time });
  for (const namespace of ['shop', 'till', 'other']) {
    const metadata = { ...place('web-0', namespace), labels: { app: 'web', of: namespace } };
    server.objects.create(pods, { metadata, status: { phase: 'Running' } });
  }
  server.objects.create(nodes, { metadata: { name: 'node-0' } });
  const client = createClient({
    baseUrl: 'http://fake',
    fetch: server.fetch,
    scheduler: time,
    livenessMs: Number.POSITIVE_INFINITY,
  });
  return {
    server,
    client,
    time,
    until: (promise) => time.until(promise),
    factory: (options = {}) => {
      const factory = createInformerFactory(client, { scheduler: time, projections, ...options });
      onTestFinished(() => factory.stop());
      return factory;
    },
    requestedPaths: () => [...new Set(server.requests.map(({ path }) => path))].sort(),
  };
}
