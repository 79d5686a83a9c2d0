/** Tests a server that does not stream lists. */
import { createListWatch, createSharedInformer } from 'rx-informer';
import { configMaps } from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { noControl } from './cluster.ts';
import { expectSameAsServer, mirror } from './mirror.ts';
import { fillNamespaces } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { openRecordedClient } from './recorded-client.ts';

const gates = '--feature-gates=ListFromCacheSnapshot=false,WatchList=false';

describe.skipIf(noControl)('a server without streaming lists', () => {
  let server: ApiServerProcess;
  let api: RawApi;
  let namespaces: readonly string[];

  beforeAll(async () => {
    server = await startApiServer({ flags: [gates, '--watch-cache-sizes=configmaps#0'] });
    api = await openRawApi(server.kubeconfig);
    namespaces = await fillNamespaces(api, { namespaces: 2, objects: 1_200 });
  });
  afterAll(async () => {
    api?.close();
    await server?.stop();
  });

  it('W4, R6: a refused streaming LIST is followed by a LIST immediately, and is requested only once', async () => {
    const client = await openRecordedClient({ file: server.kubeconfig });
    onTestFinished(() => client.close());
    const source = () => createListWatch(client, configMaps);
    const first = createSharedInformer(source());
    onTestFinished(() => first.stop());
    const mirrored = mirror(first);
    await first.whenSynced();
    expect(client.sent.map(({ kind }) => kind).slice(0, 2)).toEqual(['stream', 'list']);
    expect(client.sent[0]).toMatchObject({ status: 422 });
    expect(mirrored.statuses.map(({ phase }) => phase)).not.toContain('backoff');
    expect(mirrored.statuses.map(({ blocked }) => blocked)).not.toContain('forbidden');
    const place = { api, resource: configMaps, namespace: namespaces[0] as string };
    await expectSameAsServer(first, mirrored, place);

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
