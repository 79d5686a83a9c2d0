/** Tests many clusters with two real API servers: one view and one controller, while a server is killed and restarted. */
import {
  type ClientsByName,
  createClusters,
  createController,
  createLiveQueries,
  createResourceClient,
  type KubeClient,
  liveQuery,
  reconcileInCluster,
} from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { type ConfigMap, configMaps } from 'rx-informer/resources';
import { BehaviorSubject } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { noControl } from './cluster.ts';

const NAMES = ['east', 'west'] as const;

describe.skipIf(noControl)('two real clusters', () => {
  const servers = new Map<string, ApiServerProcess>();
  const clients = new Map<string, KubeClient>();
  const clientOf = (name: string) => clients.get(name) as KubeClient;

  beforeAll(async () => {
    await Promise.all(
      NAMES.map(async (name) => {
        const server = await startApiServer();
        servers.set(name, server);
        clients.set(name, await clientFromKubeConfig({ file: server.kubeconfig }));
      }),
    );
  });
  afterAll(async () => {
    for (const client of clients.values()) await client.close();
    for (const server of servers.values()) await server.stop();
  });

  const create = (cluster: string, name: string) =>
    createResourceClient(clientOf(cluster), configMaps).create({
      metadata: { namespace: 'default', name, labels: { test: 'clusters' } },
    });

  it('U2, U4, U6, U7: one view and one controller follow both clusters, and one cluster while the other is down', async () => {
    const clients$ = new BehaviorSubject<ClientsByName>(clients);
    const clusters = createClusters(clients$);
    const labelSelector = 'test=clusters';
    const informer = clusters.informer(configMaps, { namespace: 'default', labelSelector });
    const view = createLiveQueries(clusters).view(
      liveQuery({
        from: configMaps,
        namespace: 'default',
        labelSelector,
        orderBy: { path: 'metadata.name' },
      }),
    );
    const leave = view.subscribe(() => undefined);
    const shown = () => view.getSnapshot().rows.map(({ metadata }) => metadata.name);
    const controller = createController({
      for: informer,
      // Writes with the client of its own cluster: a write to the other one would fail with a 404.
      reconcile: reconcileInCluster<ConfigMap>(clusters, async (_key, { object, client }) => {
        if (object === undefined || object.data?.['seen'] === 'yes') return;
        const { namespace = '', name = '' } = object.metadata;
        await createResourceClient(client, configMaps).patch(
          { namespace, name },
          { merge: { data: { seen: 'yes' } } },
        );
      }),
    });
    for (const name of NAMES) await create(name, `from-${name}`);
    clusters.start();
    controller.start();
    await eventually(() => shown().join() === 'from-east,from-west');
    const seen = (key: string) => informer.indexer.getByKey(key)?.data?.['seen'];
    const allSeen = () => NAMES.every((name) => seen(`${name}/default/from-${name}`) === 'yes');
    await eventually(allSeen);

    await servers.get('west')?.kill();
    await eventually(() => clusters.status.clusters['west']?.live === false);
    await create('east', 'later-east');
    await eventually(() => seen('east/default/later-east') === 'yes');
    expect(shown()).toEqual(['from-east', 'from-west', 'later-east']);
    expect(clusters.status.text).toMatch(/^1 of 2 clusters live; west: configmaps/);

    servers.set('west', (await servers.get('west')?.restart()) as ApiServerProcess);
    await create('west', 'later-west');
    await eventually(() => seen('west/default/later-west') === 'yes');
    expect(shown()).toEqual(['from-east', 'from-west', 'later-east', 'later-west']);

    clients$.next({ west: clientOf('west') });
    expect(shown()).toEqual(['from-west', 'later-west']);
    const own = await createResourceClient(clientOf('east'), configMaps).list({
      namespace: 'default',
      labelSelector,
    });
    expect(own.items.length).toBe(2);
    leave();
    await controller.stop();
    await clusters.stop();
  });
});
