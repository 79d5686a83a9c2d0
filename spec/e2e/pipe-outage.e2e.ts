/** Tests a server that is killed at any point and restarted, with its own data or with those of a backup. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
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

import { expectSameAsServer, mirror, until } from './mirror.ts';
import { fillNamespaces } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { openRecordedClient, type RecordedClient } from './recorded-client.ts';

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
});
