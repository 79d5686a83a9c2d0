/** Tests long-running servers: mass deletions, and clock jumps. */
import {
  addEventHandler,
  createListWatch,
  createSharedInformer,
  exponentialBackoff,
  type KubernetesList,
  resourcePath,
} from 'rx-informer';
import { type ConfigMap, configMaps } from 'rx-informer/resources';
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/patience.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { noControl } from './cluster.ts';
import { figures } from './figures.ts';
import { expectSameAsServer, mirror, until } from './mirror.ts';
import { fillNamespaces } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { openRecordedClient, type RecordedClient } from './recorded-client.ts';
import { stopwatch } from './stopwatch.ts';

const backoff = exponentialBackoff({ baseMs: 100, capMs: 1_000 });
const flags = [
  '--delete-collection-workers=8',
  // By default the server ends a request after a minute, and a deletion of 4,500 objects took longer on a busy machine.
  '--request-timeout=10m',
];
const HOUR_MS = 3_600_000;

describe.skipIf(noControl)('disasters of a running server', { timeout: 600_000 }, () => {
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

  it('S7: deleteCollection of 5,000 objects is delivered as 5,000 deletions, each once, without a relist', async () => {
    const OBJECTS = 5_000;
    const [namespace] = await fillNamespaces(api, { namespaces: 1, objects: OBJECTS });
    const scope = { namespace: namespace as string };
    const informer = createSharedInformer(createListWatch(client, configMaps), { backoff });
    onTestFinished(() => informer.stop());
    const mirrored = mirror(informer);
    await informer.whenSynced();
    expect(informer.indexer.size).toBeGreaterThanOrEqual(OBJECTS);
    // An asynchronous consumer, which must not delay the others.
    const ended = new Set<string>();
    addEventHandler(informer, {
      onDelete: async ({ uid }) => {
        await Promise.resolve();
        ended.add(uid);
      },
    });
    const deletedS = stopwatch();
    const collection = resourcePath(configMaps, scope);
    await api.ok('DELETE', collection, { query: { labelSelector: 'group!=g3' } });
    const answeredS = deletedS();
    // New objects under names that were just deleted.
    const remake = (at: number) =>
      api.ok<ConfigMap>('POST', collection, { body: { metadata: { name: `config-${at * 10}` } } });
    await Promise.all(Array.from({ length: 50 }, (_, at) => remake(at)));
    await expectSameAsServer(informer, mirrored, { api, resource: configMaps, ...scope });
    const deliveredS = deletedS();
    expect(informer.indexer.byIndex('namespace', scope.namespace)).toHaveLength(500 + 50 + 1);
    // The other objects are deleted, too, in pages of their own.
    await api.ok<KubernetesList<ConfigMap>>('DELETE', collection);
    await expectSameAsServer(informer, mirrored, { api, resource: configMaps, ...scope });
    expect(mirrored.deleted).toHaveLength(OBJECTS + 50 + 1);
    expect(mirrored.deleted.every(({ finalStateUnknown }) => !finalStateUnknown)).toBe(true);
    await eventually(() => expect(ended.size).toBe(OBJECTS + 50 + 1));
    await until(informer.status$, ({ phase }) => phase === 'watching');
    expect(informer.status.relists).toBe(0);
    expect(mirrored.statuses.filter(({ error }) => error !== undefined)).toEqual([]);
    figures('deleteCollection of 5,000', {
      'the server responded after s': answeredS,
      'all delivered after s': deliveredS,
      relists: informer.status.relists,
      reconnects: informer.status.reconnects,
    });
  });

  it('X6, R8: a clock that jumps an hour, in either direction, costs at most one request', async () => {
    let offsetMs = 0;
    const scheduler: SchedulerLike = {
      now: () => Date.now() + offsetMs,
      schedule: (...work: Parameters<SchedulerLike['schedule']>) =>
        asyncScheduler.schedule(...work),
    } as SchedulerLike;
    const [namespace] = await fillNamespaces(api, { namespaces: 1, objects: 20 });
    const place = { api, resource: configMaps, namespace: namespace as string };
    const informer = createSharedInformer(createListWatch(client, configMaps, { scheduler }), {
      backoff,
      scheduler,
      // The jump is found within 5 s, well before the first watch ends by itself.
      minWatchTimeoutMs: 20_000,
      makeBeforeBreak: false,
    });
    onTestFinished(() => informer.stop());
    const mirrored = mirror(informer);
    await informer.whenSynced();
    const asked = client.sent.length;
    const jumped = until(informer.status$, ({ error }) => error?.reason === 'Silent');
    offsetMs = HOUR_MS;
    const status = await jumped;
    expect(status).toMatchObject({ phase: 'backoff', synced: true });
    expect(status.error?.message).toContain('while the clock jumped');
    // A jump of the clock looks like a sleep, and the server was last heard before it.
    expect(status.staleSinceMs).toBeLessThan(Date.now() + 20_000);
    expect(status.staleSinceMs).toBeGreaterThan(Date.now() - 120_000);
    await expectSameAsServer(informer, mirrored, place);
    expect(client.sent.slice(asked).map(({ kind }) => kind)).toEqual(['watch']);
    await until(informer.status$, ({ phase }) => phase === 'watching');
    expect(informer.status.relists).toBe(0);

    // The clock jumps back by two hours, and the current watch ends by its timeout. No failure is reported.
    const statuses = mirrored.statuses.length;
    const { reconnects } = informer.status;
    offsetMs = -HOUR_MS;
    await until(informer.status$, (now) => now.reconnects > reconnects);
    await expectSameAsServer(informer, mirrored, place);
    expect(mirrored.statuses.slice(statuses).filter(({ error }) => error !== undefined)).toEqual(
      [],
    );
    await until(informer.status$, ({ phase }) => phase === 'watching');
    expect(informer.status.relists).toBe(0);
    figures('clock jumps of an hour', {
      'requests after the jump': client.sent.slice(asked).length,
      relists: informer.status.relists,
    });
  });
});
