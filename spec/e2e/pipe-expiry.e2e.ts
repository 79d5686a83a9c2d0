/** Tests expired history: versions and page tokens that the server has compacted. */
import {
  createListWatch,
  createSharedInformer,
  exponentialBackoff,
  resourcePath,
  type TransportRequest,
} from 'rx-informer';
import { type ConfigMap, configMaps } from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/patience.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { startChurn } from './churn.ts';
import { noControl } from './cluster.ts';
import { catchUp, expectSameAsServer, mirror, until } from './mirror.ts';
import { fillNamespaces } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { openRecordedClient, type RecordedClient } from './recorded-client.ts';
import { createValve } from './valve.ts';

const backoff = exponentialBackoff({ baseMs: 100, capMs: 1_000 });
/** No watch cache, so that a compaction has an immediate effect. */
const uncached = '--watch-cache-sizes=configmaps#0';

describe.skipIf(noControl).each([
  ['by streaming LISTs', '--feature-gates=ListFromCacheSnapshot=false,WatchList=true'],
  ['by pages', '--feature-gates=ListFromCacheSnapshot=false,WatchList=false'],
])('expired history, %s', (_, gates) => {
  const streams = gates.includes('WatchList=true');
  let server: ApiServerProcess;
  let api: RawApi;
  let namespaces: readonly string[];

  beforeAll(async () => {
    server = await startApiServer({ flags: [gates, uncached] });
    api = await openRawApi(server.kubeconfig);
    namespaces = await fillNamespaces(api, { namespaces: 2, objects: 1_200 });
  });
  afterAll(async () => {
    api?.close();
    await server?.stop();
  });

  const place = () => ({ api, resource: configMaps, namespace: namespaces[0] as string });
  const open = async (
    before?: (request: TransportRequest) => Promise<void> | undefined,
  ): Promise<RecordedClient> => {
    const hook = before === undefined ? {} : { before };
    const client = await openRecordedClient({ file: server.kubeconfig, ...hook });
    onTestFinished(() => client.close());
    return client;
  };
  const create = (name: string) =>
    api.ok<ConfigMap>('POST', resourcePath(configMaps, { namespace: place().namespace }), {
      body: { metadata: { name } },
    });
  const remove = (name: string) =>
    api.ok('DELETE', resourcePath(configMaps, { namespace: place().namespace, name }));

  it('R9, F4: a watch that resumes too late is followed by a list, and missed deletions are delivered', async () => {
    const client = await open();
    const valve = createValve();
    const source = createListWatch(client, configMaps);
    // The list waits for at most `random` seconds.
    const options = { backoff, random: () => 0.5, demand: valve.demand, pauseLimitMs: 200 };
    const informer = createSharedInformer(source, options);
    onTestFinished(() => informer.stop());
    const mirrored = mirror(informer);
    await informer.whenSynced();
    await create('doomed-unseen');
    await create('doomed-recreated');
    const kept = await create('kept');
    await catchUp(informer, place());

    // The consumer has no capacity for too long, so the watch is closed.
    const paused = until(informer.status$, ({ phase }) => phase === 'paused');
    valve.close();
    const last = await create('arrives-at-a-closed-valve');
    expect(await paused).toMatchObject({ synced: true });
    await remove('doomed-unseen');
    await remove('doomed-recreated');
    const recreated = await create('doomed-recreated');
    const { done } = startChurn({ api, resource: configMaps, namespaces, writes: 40 });
    await done;
    await server.compact();
    const asked = client.sent.length;
    // The last event may have been read, or may still wait in the socket.
    const stoodAt = [informer.lastSyncResourceVersion, last.metadata?.resourceVersion];
    valve.open();

    await expectSameAsServer(informer, mirrored, place());
    const expired = mirrored.statuses.find(({ error }) => error?.isExpired);
    expect(expired).toMatchObject({ phase: 'backoff', error: { code: 410, reason: 'Expired' } });
    // The store may be equal before the watch after the list is open.
    await eventually(() =>
      expect(informer.status).toMatchObject({ phase: 'watching', relists: 1 }),
    );
    // First the watch is resumed. After the wait a list at the last version is requested.
    const [watch, list] = client.sent.slice(asked);
    expect(watch?.kind).toBe('watch');
    expect(stoodAt).toContain(watch?.query.resourceVersion);
    expect(list?.kind).toBe(streams ? 'stream' : 'list');
    expect(list?.query.resourceVersion).toBe(watch?.query.resourceVersion);
    expect((expired?.nextRetryAtMs ?? 0) - (expired?.sinceMs ?? 0)).toBeGreaterThanOrEqual(99);
    const at = place().namespace;
    for (const name of ['doomed-unseen', 'doomed-recreated']) {
      expect(mirrored.deleted).toContainEqual({ key: `${at}/${name}`, finalStateUnknown: true });
    }
    expect(mirrored.deleted.map(({ key }) => key)).not.toContain(`${at}/kept`);
    expect(informer.indexer.getByKey(`${at}/kept`)?.metadata?.uid).toBe(kept.metadata?.uid);
    const again = informer.indexer.getByKey(`${at}/doomed-recreated`);
    expect(again?.metadata?.uid).toBe(recreated.metadata?.uid);
  });

  it('W1: after an expired page token one complete list follows', async () => {
    let compactions = 0;
    const client = await open((request) => {
      if (request.query?.continue === undefined || compactions > 0) return undefined;
      compactions++;
      return create('between-the-pages')
        .then(() => server.compact())
        .then(() => undefined);
    });
    const source = createListWatch(client, configMaps);
    const informer = createSharedInformer(source, { backoff, initialList: 'pages', pageSize: 500 });
    onTestFinished(() => informer.stop());
    const mirrored = mirror(informer);
    await informer.whenSynced();
    const [first, second, third, fourth] = client.sent;
    expect(first?.query).toMatchObject({ limit: '500' });
    expect(second).toMatchObject({ status: 410 });
    expect(second?.query.continue).toBeDefined();
    expect(third).toMatchObject({ kind: 'list', status: 200 });
    expect(third?.query).not.toHaveProperty('limit');
    expect(third?.query).not.toHaveProperty('continue');
    expect(third?.query.resourceVersion).toBe(first?.query.resourceVersion);
    expect(fourth?.kind).toBe('watch');
    // The status does not report it.
    expect(mirrored.statuses.filter(({ error }) => error !== undefined)).toEqual([]);
    await expectSameAsServer(informer, mirrored, place());
    const { done } = startChurn({ api, resource: configMaps, namespaces, writes: 40 });
    await done;
    await expectSameAsServer(informer, mirrored, place());
  });

  // The next test does not apply to a server that streams lists.
  if (streams) return;
  it('W4, R6: a refused streaming LIST is followed by a LIST immediately, and is requested only once', async () => {
    const client = await open();
    const source = () => createListWatch(client, configMaps);
    const first = createSharedInformer(source());
    onTestFinished(() => first.stop());
    const mirrored = mirror(first);
    await first.whenSynced();
    expect(client.sent.map(({ kind }) => kind).slice(0, 2)).toEqual(['stream', 'list']);
    expect(client.sent[0]).toMatchObject({ status: 422 });
    expect(mirrored.statuses.map(({ phase }) => phase)).not.toContain('backoff');
    expect(mirrored.statuses.map(({ blocked }) => blocked)).not.toContain('forbidden');
    await expectSameAsServer(first, mirrored, place());

    // Neither a second informer nor a relist requests a streaming LIST again.
    const second = createSharedInformer(source());
    onTestFinished(() => second.stop());
    second.start();
    await second.whenSynced();
    await second.stop();
    second.start();
    await second.whenSynced();
    expect(second.indexer.size).toBe(first.indexer.size);
    expect(client.sent.filter(({ kind }) => kind === 'stream')).toHaveLength(1);
    expect(client.sent.filter(({ status }) => status >= 400)).toHaveLength(1);
    expect(client.sent.filter(({ query }) => query.limit !== undefined).length).toBeGreaterThan(8);
  });
});
