/** Tests a server that is killed at any point and restarted, with its own data or with those of a backup. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createListWatch,
  createSharedInformer,
  exponentialBackoff,
  type SharedInformer,
} from 'rx-informer';
import { type ConfigMap, configMaps } from 'rx-informer/resources';
import { map } from 'rxjs/operators';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/patience.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { type Churn, startChurn } from './churn.ts';
import { noControl } from './cluster.ts';
import { establishWidgets, removeWidgets, widgets } from './custom-resource.ts';
import { expectSameAsServer, mirror, until } from './mirror.ts';
import { fillNamespaces } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { openRecordedClient, type Recorded, type RecordedClient } from './recorded-client.ts';

/** Shorter than the default, so that tests wait less. */
const backoff = exponentialBackoff({ baseMs: 100, capMs: 1_000 });

describe.skipIf(noControl)('outages', () => {
  let dataDir: string;
  let server: ApiServerProcess;
  let api: RawApi;
  let client: RecordedClient;
  let namespaces: readonly string[];

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'rx-informer-outage-'));
    server = await startApiServer({ dataDir });
    api = await openRawApi(server.kubeconfig);
    client = await openRecordedClient({ file: server.kubeconfig });
    namespaces = await fillNamespaces(api, { namespaces: 2, objects: 500 });
  });
  afterAll(async () => {
    await client?.close();
    api?.close();
    await server?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const place = () => ({ api, resource: configMaps, namespace: namespaces[0] as string });
  const busy = (churn: Churn, writes: number) =>
    eventually(() => expect(churn.report.updated).toBeGreaterThan(writes));
  /** Waits until the informer has recovered from its current failure. */
  const healed = async (informer: SharedInformer<ConfigMap>) => {
    const live = ({ phase, error }: typeof informer.status) =>
      phase === 'watching' && error === undefined;
    await until(
      informer.status$.pipe(map(() => informer.status)),
      (status) => live(status) && status.staleSinceMs === undefined,
    );
  };

  it('I16: after a kill during churn and a restart the informer recovers, reports it, and no stream errors', async () => {
    const informer = createSharedInformer(createListWatch(client, configMaps), { backoff });
    onTestFinished(() => informer.stop());
    const mirrored = mirror(informer);
    await informer.whenSynced();
    const churn = startChurn({ api, resource: configMaps, namespaces });
    await busy(churn, 300);

    expect(informer.status.staleSinceMs).toBeUndefined();
    const trouble = until(informer.status$, ({ phase }) => phase === 'backoff');
    await server.kill();
    const down = await trouble;
    expect(down).toMatchObject({ synced: true, error: { reason: 'Network', code: 0 } });
    expect(down.staleSinceMs).toBeLessThanOrEqual(down.sinceMs);
    expect(down.nextRetryAtMs).toBeGreaterThan(down.sinceMs);
    // Refused connections are retried repeatedly, and the store stays readable.
    const later = await until(informer.status$, ({ attempt }) => attempt >= 3);
    expect(later.staleSinceMs).toBe(down.staleSinceMs);
    expect(later.blocked).toBeUndefined();
    expect(informer.indexer.size).toBeGreaterThan(500);

    server = await server.restart();
    await healed(informer);
    await busy(churn, churn.report.updated + 300);
    const report = await churn.stop();
    expect(report.failed).toBeGreaterThan(0);
    await expectSameAsServer(informer, mirrored, place());
    await until(informer.status$, ({ live }) => live);
    const after = mirrored.statuses.slice(mirrored.statuses.indexOf(later));
    expect(after.at(-1)).toMatchObject({ phase: 'watching', synced: true });
    expect(after.at(-1)?.staleSinceMs).toBeUndefined();
  });

  it('after a kill during the first list the informer syncs when the server is back', async () => {
    const before = client.sent.length;
    const informer = createSharedInformer(createListWatch(client, configMaps), { backoff });
    onTestFinished(() => informer.stop());
    const mirrored = mirror(informer);
    await eventually(() => expect(client.sent.length).toBeGreaterThan(before));
    await server.kill();
    server = await server.restart();
    await informer.whenSynced();
    await expectSameAsServer(informer, mirrored, place());
  });

  it('R11: after a restored backup the silence is detected, and lost objects leave the store', async () => {
    const backup = `${dataDir}-backup`;
    onTestFinished(() => rmSync(backup, { recursive: true, force: true }));
    await server.kill();
    cpSync(dataDir, backup, { recursive: true });
    server = await server.restart();
    // A watch at a future version is silent, and only the silence reveals it.
    const informer = createSharedInformer(createListWatch(client, configMaps), {
      backoff,
      idleTimeoutMs: 5_000,
    });
    onTestFinished(() => informer.stop());
    const mirrored = mirror(informer);
    await informer.whenSynced();
    const { done } = startChurn({ api, resource: configMaps, namespaces, writes: 100 });
    await done;
    const body = { metadata: { name: 'made-after-the-backup' } };
    const path = `/api/v1/namespaces/${namespaces[1]}/configmaps`;
    const { metadata } = await api.ok<ConfigMap>('POST', path, { body });
    const key = `${namespaces[1]}/made-after-the-backup`;
    await informer.whenObserved(key, metadata?.resourceVersion ?? '');

    await server.kill();
    const { resourceVersion } = informer.status;
    rmSync(dataDir, { recursive: true });
    cpSync(backup, dataDir, { recursive: true });
    mirrored.restored();
    const asked = client.sent.length;
    server = await server.restart();
    const gone = informer.snapshot$;
    await until(gone, (snapshot) => snapshot.get(key) === undefined);
    expect(Number(informer.lastSyncResourceVersion)).toBeLessThan(Number(resourceVersion));
    expect(mirrored.deleted).toContainEqual({ key, finalStateUnknown: true });
    // Two watches are silent. Then the list at the future version is refused, and the newest version is requested. It is
    // older than a version already seen, so it is requested again without reusing stored objects. A server that answers
    // late is asked once more at each step, and after three streaming lists in pages.
    const sent = client.sent.slice(asked);
    const isOld = ({ query }: Recorded) => query['resourceVersion'] === resourceVersion;
    const lastOld = sent.findLastIndex(isOld);
    const answered = sent.filter(({ kind, status }) => kind === 'watch' && status === 200);
    expect(answered.length).toBeGreaterThanOrEqual(2);
    expect(answered.every(isOld)).toBe(true);
    expect(['stream', 'list']).toContain(sent[lastOld]?.kind);
    const newest = sent.slice(lastOld + 1).filter(({ kind }) => kind !== 'watch');
    expect(newest.length).toBeGreaterThanOrEqual(2);
    for (const { kind, query } of newest) {
      expect(['stream', 'list']).toContain(kind);
      expect(query).not.toHaveProperty('resourceVersion');
    }
    const reasons = mirrored.statuses.map(({ error }) => error?.reason);
    expect(reasons).toContain('Silent');
    expect(mirrored.statuses.some(({ error }) => error?.isTooLargeResourceVersion)).toBe(true);
    await expectSameAsServer(informer, mirrored, place());
  });

  it('watches that were unsubscribed before their response cause no error when the server is killed', async () => {
    const uncaught: unknown[] = [];
    const onUncaught = (error: unknown) => uncaught.push(error);
    process.on('uncaughtException', onUncaught);
    onTestFinished(() => {
      process.off('uncaughtException', onUncaught);
    });
    // Opens the connection first, because a request that waits for a connection is removed without a trace.
    await client.request({ path: '/version' });
    const trip = `require('node:https').get('${server.url}/version', { rejectUnauthorized: false }, (answer) => answer.resume())`;
    let early = 0;
    for (let turns = 0; turns < 24; turns++) {
      let answered = false;
      const next = () => {
        answered = true;
      };
      const request = { method: 'GET', path: '/api/v1/configmaps', query: { watch: 'true' } };
      const left = client.send({ ...request, use: 'watch' }).subscribe({ next, error: () => {} });
      // The credentials are awaited first, so after this many microtasks the request may or may not have been sent.
      for (let turn = 0; turn < turns % 12; turn++) await Promise.resolve();
      // The response arrives while the thread is blocked, and is read after the unsubscribe.
      execFileSync(process.execPath, ['-e', trip]);
      left.unsubscribe();
      if (!answered) early++;
    }
    expect(early).toBeGreaterThanOrEqual(12);
    // When this request is answered, the others are, too.
    await client.request({ path: '/version' });
    await server.kill();
    server = await server.restart();
    await client.request({ path: '/version' });
    expect(uncaught).toEqual([]);
  });

  it('a custom resource that is created, deleted and created again is followed', async () => {
    const informer = createSharedInformer(createListWatch(client, widgets), { backoff });
    onTestFinished(() => informer.stop());
    const mirrored = mirror(informer);
    const at = { api, resource: widgets, namespace: namespaces[0] as string };
    const churn = (writes: number) =>
      startChurn({ api, resource: widgets, namespaces, field: 'spec', writes }).done;

    const missing = await until(informer.status$, ({ phase }) => phase === 'backoff');
    expect(missing).toMatchObject({ blocked: 'no-such-resource', error: { code: 404 } });
    expect(missing.synced).toBe(false);
    await establishWidgets(api);
    // Right after its definition a resource may answer 404, or 429 for a moment. Neither needs an action.
    await informer.whenSynced({ whileBlocked: 'wait' });
    expect(informer.status.blocked).toBeUndefined();
    const report = await churn(60);
    expect(Math.min(report.created, report.updated, report.deleted)).toBeGreaterThan(20);
    await expectSameAsServer(informer, mirrored, at);
    const known = informer.indexer.size;
    expect(known).toBeGreaterThan(10);

    const blocked = until(informer.status$, (status) => status.blocked === 'no-such-resource');
    await removeWidgets(api);
    expect(await blocked).toMatchObject({ synced: true, error: { code: 404 } });
    // The deletions were observed, because the server deletes the objects before the resource.
    expect(informer.indexer.size).toBe(0);

    await establishWidgets(api);
    await until(informer.status$, ({ phase, error }) => phase === 'watching' && !error);
    await churn(30);
    await expectSameAsServer(informer, mirrored, at);
  });
});
