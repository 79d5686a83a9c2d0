import { createListWatch, createSharedInformer, exponentialBackoff } from 'rx-informer';

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { startChurn } from './churn.ts';
import { noControl } from './cluster.ts';
import {
  changeWidgets,
  establishWidgets,
  removeWidgets,
  type Widget,
  widgets,
  widgetsV2,
} from './custom-resource.ts';
import { figures } from './figures.ts';
import { expectSameAsServer, mirror, until } from './mirror.ts';
import { freshNamespace } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { openRecordedClient, type RecordedClient } from './recorded-client.ts';

const backoff = exponentialBackoff({ baseMs: 100, capMs: 1_000 });
/** Secrets have no watch cache, so that a compaction has an immediate effect. */
const flags = ['--watch-cache-sizes=secrets#0'];

/** One version of a resource and its informer. */
interface Version {
  readonly resource: typeof widgets;
  readonly informer: ReturnType<typeof createSharedInformer<Widget>>;
  readonly mirrored: ReturnType<typeof mirror<Widget>>;
}

describe.skipIf(noControl)('disasters of a running server', () => {
  let server: ApiServerProcess;
  let api: RawApi;
  let client: RecordedClient;

  beforeAll(async () => {
    server = await startApiServer({ flags });
    api = await openRawApi(server.kubeconfig);
    client = await openRecordedClient({ file: server.kubeconfig });
  });
  afterAll(async () => {
    await client?.close();
    api?.close();
    await server?.stop();
  });

  it('R7: a custom resource that is created again in another version is followed in each version', async () => {
    const [v1, v2] = [widgets, widgetsV2].map((resource) => {
      const source = createListWatch(client, resource);
      const informer = createSharedInformer(source, { backoff, name: resource.version });
      onTestFinished(() => informer.stop());
      return { resource, informer, mirrored: mirror<Widget>(informer) };
    }) as [Version, Version];
    const namespace = await freshNamespace(api);
    const churn = (resource: typeof widgets, writes: number) =>
      startChurn({ api, resource, namespaces: [namespace], field: 'spec', writes }).done;
    const same = ({ resource, informer, mirrored }: Version) =>
      expectSameAsServer(informer, mirrored, { api, resource, namespace });
    const blocked = ({ informer }: Version) =>
      until(informer.status$, (status) => status.blocked === 'no-such-resource');
    const watching = ({ informer }: Version) =>
      until(
        informer.status$,
        ({ phase, error, synced }) => synced && phase === 'watching' && !error,
      );
    await Promise.all([blocked(v1), blocked(v2)]);

    await establishWidgets(api);
    await watching(v1);
    await churn(widgets, 30);
    await same(v1);
    const lived = new Set(v1.informer.indexer.list().map(({ metadata }) => metadata?.uid));
    expect(lived.size).toBeGreaterThan(5);
    expect(v2.informer.status).toMatchObject({ synced: false, blocked: 'no-such-resource' });

    await removeWidgets(api);
    expect(await blocked(v1)).toMatchObject({ synced: true, error: { code: 404 } });
    expect(v1.informer.indexer.size).toBe(0);
    await establishWidgets(api, [], [{ name: 'v2' }]);
    await watching(v2);
    await churn(widgetsV2, 30);
    await same(v2);
    // The informer of the old version reports that its resource does not exist, and does not show the objects of the
    // new version.
    expect(v1.informer.status).toMatchObject({ blocked: 'no-such-resource', synced: true });
    expect(v1.informer.status.staleSinceMs).toBeDefined();
    expect(v1.informer.indexer.size).toBe(0);

    await changeWidgets(api, [{ name: 'v1' }, { name: 'v2' }]);
    await watching(v1);
    await churn(widgets, 20);
    await same(v1);
    await same(v2);
    const uidsOf = ({ informer }: Version) =>
      informer.indexer
        .list()
        .map(({ metadata }) => metadata?.uid)
        .sort();
    expect(uidsOf(v1)).toEqual(uidsOf(v2));
    expect(uidsOf(v1).some((uid) => lived.has(uid))).toBe(false);

    // A version that is no longer served: the known objects stay readable and are reported as stale.
    const size = v1.informer.indexer.size;
    await changeWidgets(api, [{ name: 'v1', served: false }, { name: 'v2' }]);
    expect(await blocked(v1)).toMatchObject({ synced: true, phase: 'backoff' });
    expect(v1.informer.indexer.size).toBe(size);
    await churn(widgetsV2, 20);
    await same(v2);
    await changeWidgets(api, [{ name: 'v1' }, { name: 'v2' }]);
    await watching(v1);
    await same(v1);
    await same(v2);
    figures('a custom resource in another version', {
      'relists v1/v2': `${v1.informer.status.relists}/${v2.informer.status.relists}`,
    });
  });
});
