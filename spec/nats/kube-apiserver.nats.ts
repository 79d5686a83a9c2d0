/** Readers behind a bucket equal a real kube-apiserver, while the publisher and then the NATS server are killed. */
import { createResourceClient, createSharedInformer, type KubeClient } from 'rx-informer';
import { createNatsListWatch } from 'rx-informer/nats';
import { clientFromKubeConfig } from 'rx-informer/node';
import { type ConfigMap, configMaps } from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Cluster, openCluster } from '../e2e/cluster.ts';
import { eventually } from '../support/patience.ts';
import { NatsServer } from './nats-server.ts';
import { PublishProcess } from './publish-process.ts';

let nats: NatsServer;
let cluster: Cluster;
let client: KubeClient;

beforeAll(async () => {
  nats = await NatsServer.start();
  cluster = await openCluster();
  client = await clientFromKubeConfig({ file: cluster.kubeconfig });
});
afterAll(async () => {
  await client.close();
  await cluster.close();
  await nats.stop();
});

const shown = (objects: readonly ConfigMap[]) =>
  objects.map(({ metadata }) => `${metadata?.name}@${metadata?.resourceVersion}`).sort();

describe('a bucket of a real cluster', () => {
  it('J63: readers equal the server after the publisher and the NATS server were killed', async () => {
    const maps = createResourceClient(client, configMaps).namespace('default');
    const name = (at: number) => `nats-${at}`;
    for (let at = 0; at < 50; at++) await maps.create({ metadata: { name: name(at) } });
    const lease = ['--lease', 'default/publisher', '--lease-seconds', '4'];
    const publisher = () => {
      const args = ['--kind', 'configmaps', ...lease];
      const started = new PublishProcess({ kubeconfig: cluster.kubeconfig, nats: nats.url, args });
      onTestFinished(async () => {
        await started.end('SIGKILL');
      });
      return started;
    };
    const first = publisher();
    await first.says('configmaps: publishing');
    await publisher().says('configmaps: standby');
    const readers = await Promise.all(
      [0, 1, 2].map(async () => {
        const options = { bucket: 'k8s', namespace: 'default', idleMs: 1_000 };
        const listWatch = createNatsListWatch(await nats.connect(), configMaps, options);
        const informer = createSharedInformer(listWatch, { backoff: () => 200 });
        onTestFinished(() => informer.stop());
        informer.start();
        await informer.whenSynced();
        return informer;
      }),
    );
    let turn = 0;
    const change = async () => {
      turn++;
      const data = { turn: String(turn) };
      await maps.patch(name(10 + (turn % 40)), { merge: { data } });
      if (turn <= 10) await maps.delete(name(turn - 1));
      await maps.create({ metadata: { name: `more-${turn}` } });
    };
    const equal = async (after: string) => {
      for (let count = 0; count < 5; count++) await change();
      const truth = shown((await maps.list()).items);
      const isEqual = () =>
        readers.every(({ indexer }) => String(shown(indexer.list())) === String(truth));
      await eventually(isEqual, `equal after ${after}`);
    };
    await equal('the start');
    await first.end('SIGKILL');
    await equal('the end of the publisher');
    await nats.kill();
    await change();
    await nats.run();
    await equal('the end of the NATS server');
    expect(readers.map(({ status }) => status.relists)).toEqual([0, 0, 0]);
  });
});
