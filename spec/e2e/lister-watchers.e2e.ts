/** Runs the suite of all ListerWatchers against a real kube-apiserver. */
import {
  createListWatch,
  createMetadataListWatch,
  createResourceClient,
  createSharedInformer,
  type KubeClient,
  type KubernetesObject,
  type ListerWatcher,
  type ListWatchOptions,
} from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { configMaps, namespaces } from 'rx-informer/resources';
import { finalize } from 'rxjs';
import { afterAll, beforeAll, describe } from 'vitest';
import { listerWatcherSuite } from '../lister-watchers/suite.ts';
import type { Traits, World } from '../lister-watchers/world.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { streamingFlags } from './apiserver-binary.ts';
import { noControl } from './cluster.ts';

type Source = ListerWatcher<KubernetesObject>;
type Make = (client: KubeClient, options: ListWatchOptions<KubernetesObject>) => Source;

const traits: Traits = {
  pages: true,
  streams: true,
  // A real server sends a bookmark about every minute, so the scenario of bookmarks would take minutes.
  bookmarks: false,
  expires: true,
  timesOut: true,
  waitsForVersion: true,
  // Bytes that the connection has received before the demand closed.
  readAhead: 100,
};

const KINDS: Readonly<Record<string, Make>> = {
  createListWatch: (client, options) => createListWatch(client, configMaps as never, options),
  createMetadataListWatch: (client, options) =>
    createMetadataListWatch(client, configMaps, options as never) as unknown as Source,
};

describe.skipIf(noControl)('a real kube-apiserver', () => {
  let server: ApiServerProcess;
  let admin: KubeClient;
  let worlds = 0;

  beforeAll(async () => {
    // Without a watch cache a compaction has an immediate effect.
    server = await startApiServer({
      flags: [
        '--feature-gates=ListFromCacheSnapshot=false',
        '--watch-cache-sizes=configmaps#0',
        ...streamingFlags,
      ],
    });
    admin = await clientFromKubeConfig({ file: server.kubeconfig, qps: 0 });
    const own = createResourceClient(admin, namespaces);
    for (const name of ['a', 'b', 'c', 'elsewhere']) await own.create({ metadata: { name } });
  });
  afterAll(async () => {
    await admin?.close();
    await server?.stop();
  });

  async function worldOf(make: Make): Promise<World> {
    worlds += 1;
    const world = `w${worlds}`;
    const labelSelector = `world=${world}`;
    const own = createResourceClient(admin, configMaps);
    const plain = await clientFromKubeConfig({ file: server.kubeconfig, qps: 0 });
    let open = 0;
    const client: KubeClient = Object.create(plain, {
      send: {
        value: (request: Parameters<KubeClient['send']>[0]) => {
          open += 1;
          return plain.send(request).pipe(finalize(() => (open -= 1)));
        },
      },
    });
    // A later write that has arrived over the same connection.
    const fence = createSharedInformer(
      createMetadataListWatch(plain, configMaps, { labelSelector: `fence=${world}` }),
    );
    fence.start();
    await fence.whenSynced();
    const existing = new Set<string>();
    return {
      traits,
      listerWatcher: (namespace) =>
        make(client, { labelSelector, ...(namespace === undefined ? {} : { namespace }) }),
      async put(namespace, name, value) {
        const key = `${namespace}/${name}`;
        const labels = { world, value };
        const { metadata } = existing.has(key)
          ? await own.patch({ namespace, name }, { merge: { metadata: { labels } } })
          : await own.create({ metadata: { namespace, name, labels } });
        existing.add(key);
        return { uid: metadata.uid ?? '', resourceVersion: metadata.resourceVersion ?? '' };
      },
      async remove(namespace, name) {
        existing.delete(`${namespace}/${name}`);
        await own.delete({ namespace, name });
      },
      async advance() {
        await own.create({ metadata: { namespace: 'elsewhere', generateName: 'x-' } });
      },
      settle: async () => undefined,
      async compact() {
        await server.compact();
      },
      disconnect: async () => undefined,
      openRequests: async () => open,
      async pass() {
        const place = { namespace: 'elsewhere', generateName: 'fence-', labels: { fence: world } };
        const { metadata } = await own.create({ metadata: place });
        const key = `elsewhere/${metadata.name}`;
        await fence.whenObserved(key, metadata.resourceVersion);
      },
      async close() {
        await fence.stop();
        for (const key of existing) {
          const [namespace = '', name = ''] = key.split('/');
          await own.delete({ namespace, name });
        }
        await plain.close();
      },
    };
  }

  for (const [name, make] of Object.entries(KINDS)) listerWatcherSuite(name, () => worldOf(make));
});
