/** Tests the pipe from a real server to the store without faults: many objects, many writers, long runs. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createListWatch, createSharedInformer, type SharedInformer } from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { type ConfigMap, configMaps } from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/patience.ts';
import { streamingFlags } from './apiserver-binary.ts';
import { startChurn } from './churn.ts';
import { type Cluster, openCluster } from './cluster.ts';
import { expectSameAsServer, mirror } from './mirror.ts';
import { fillNamespaces, removeNamespaces } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { openRecordedClient, type RecordedClient } from './recorded-client.ts';

const OBJECTS = 1_500;
/** Labels our objects on a shared cluster. */
const labels = { 'rx-informer-run': randomUUID() };
const labelSelector = Object.entries(labels)
  .map(([name, value]) => `${name}=${value}`)
  .join();

describe('the pipe from a real server', () => {
  let cluster: Cluster;
  let api: RawApi;
  let client: RecordedClient;
  let namespaces: readonly string[];
  /** The server's own watches. Those of an earlier test may still be closing when the next begins. */
  let watchesOfOthers: number;

  beforeAll(async () => {
    cluster = await openCluster({ flags: streamingFlags });
    api = await openRawApi(cluster.kubeconfig);
    client = await openRecordedClient({ file: cluster.kubeconfig });
    namespaces = await fillNamespaces(api, { namespaces: 3, objects: OBJECTS, labels });
    watchesOfOthers = await api.openWatches(configMaps);
  });
  afterAll(async () => {
    await client?.close();
    if (namespaces) await removeNamespaces(api, namespaces);
    api?.close();
    await cluster?.close();
  });

  const ways = {
    'a streaming LIST': { initialList: 'stream' },
    pages: { initialList: 'pages' },
  } as const;
  const open = (way: keyof typeof ways): SharedInformer<ConfigMap> => {
    const source = createListWatch(client, configMaps, { labelSelector });
    const informer = createSharedInformer(source, { ...ways[way], name: way });
    onTestFinished(() => informer.stop());
    return informer;
  };
  const place = () => ({ api, resource: configMaps, namespace: namespaces[0] as string, labels });

  it.each(Object.keys(ways) as (keyof typeof ways)[])(
    'R2, S7: 1,500 objects by %s, then churn: the store equals the server',
    async (way) => {
      const before = client.sent.length;
      const informer = open(way);
      const mirrored = mirror(informer);
      await informer.whenSynced();
      const first = client.sent[before];
      const streamed = way === 'a streaming LIST';
      expect(first?.kind).toBe(streamed ? 'stream' : 'list');
      expect(first?.query.limit).toBe(streamed ? undefined : '500');
      expect(first?.query.resourceVersion).toBe(streamed ? undefined : '0');
      await expectSameAsServer(informer, mirrored, place());
      expect(informer.indexer.size).toBeGreaterThan(OBJECTS);

      const { done } = startChurn({ api, resource: configMaps, namespaces, labels, writes: 150 });
      const report = await done;
      expect(Math.min(report.created, report.updated, report.deleted)).toBeGreaterThan(50);
      expect(report.failed).toBe(0);
      await expectSameAsServer(informer, mirrored, place());
      // One list and one watch were enough.
      expect(informer.status).toMatchObject({ phase: 'watching', relists: 0, reconnects: 0 });
      expect(informer.status.error).toBeUndefined();
    },
  );

  it('D1: a LIST and a streaming LIST give one representation, field by field', async () => {
    const [streamed, paged] = [open('a streaming LIST'), open('pages')];
    for (const informer of [streamed, paged]) {
      informer.start();
      await informer.whenSynced();
    }
    expect(paged.indexer.size).toBe(streamed.indexer.size);
    for (const object of streamed.indexer.list()) {
      const other = paged.indexer.get(object);
      expect(JSON.stringify(other)).toBe(JSON.stringify(object));
      expect(typeof object.metadata?.creationTimestamp).toBe('string');
    }
  });

  it('I10: a write of the client is observed, and so is a deletion', async () => {
    const informer = open('a streaming LIST');
    informer.start();
    await informer.whenSynced();
    const path = `/api/v1/namespaces/${namespaces[1]}/configmaps`;
    const metadata = { name: 'own-write', labels };
    const key = `${namespaces[1]}/own-write`;

    const made = await client.request<ConfigMap>({ method: 'POST', path, body: { metadata } });
    const version = made.metadata?.resourceVersion ?? '';
    const seen = await informer.whenObserved(key, version);
    expect(seen?.metadata).toMatchObject({ uid: made.metadata?.uid, resourceVersion: version });

    await client.request({ method: 'DELETE', path: `${path}/own-write` });
    const again = await client.request<ConfigMap>({ method: 'POST', path, body: { metadata } });
    const gone = { uid: made.metadata?.uid ?? '', deleted: true } as const;
    const now = await informer.whenObserved(key, gone);
    expect([undefined, again.metadata?.uid]).toContain(now?.metadata?.uid);
    expect(now?.metadata?.uid).not.toBe(gone.uid);
  });

  it('I7: after stop() the server has none of our watches open, and none is opened again', async () => {
    const own = await clientFromKubeConfig({ file: cluster.kubeconfig });
    onTestFinished(() => own.close());
    const informers = namespaces.map((namespace) =>
      createSharedInformer(createListWatch(own, configMaps, { namespace })),
    );
    const watches = async (expected: number) =>
      eventually(async () => expect(await api.openWatches(configMaps)).toBe(expected));
    await watches(watchesOfOthers);
    for (const informer of informers) informer.start();
    for (const informer of informers) await informer.whenSynced();
    await watches(watchesOfOthers + informers.length);

    await informers[0]?.stop();
    await watches(watchesOfOthers + informers.length - 1);
    // The third informer is not stopped. Closing the client ends its watch, which must not be opened again.
    await informers[1]?.stop();
    await own.close();
    await watches(watchesOfOthers);
    expect(informers[2]?.status.error?.reason).toBe('Stopped');
    await informers[2]?.stop();
    expect(await api.openWatches(configMaps)).toBe(watchesOfOthers);
  });

  it('I7: a process whose informer and client are closed ends by itself', async () => {
    const script = fileURLToPath(new URL('./one-life.ts', import.meta.url));
    const child = await promisify(execFile)(
      process.execPath,
      ['--conditions=rx-informer-source', script, cluster.kubeconfig, namespaces[0] as string],
      { encoding: 'utf8' },
    );
    const { objects, left } = JSON.parse(child.stdout) as { objects: number; left: string[] };
    expect(objects).toBeGreaterThan(OBJECTS / 4);
    // The child's pipe to this process is open while it prints.
    expect(left.filter((name) => name !== 'PipeWrap')).toEqual([]);
  });
});
