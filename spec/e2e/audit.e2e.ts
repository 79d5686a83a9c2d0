/** Tests audits on a real server after a restored backup. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { audit, createListWatch, createSharedInformer, type SharedInformer } from 'rx-informer';
import { type ConfigMap, configMaps } from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/patience.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { startChurn } from './churn.ts';
import { noControl } from './cluster.ts';
import { figures } from './figures.ts';
import { expectSameAsServer, mirror } from './mirror.ts';
import { fillNamespaces } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { openRecordedClient, type RecordedClient } from './recorded-client.ts';

const OBJECTS = 500;
const PERIOD_MS = 60_000;
const audited = { audit: audit({ periodMs: PERIOD_MS }) };

function auditOf({ status }: SharedInformer<ConfigMap>) {
  const found = status.audit;
  if (typeof found !== 'object') throw new Error(`the audit is ${found}`);
  return found;
}

describe.skipIf(noControl)('an informer with an audit', () => {
  let server: ApiServerProcess;
  let api: RawApi;
  let client: RecordedClient;
  let namespaces: readonly string[];
  let dataDir: string;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'rx-informer-audit-'));
    server = await startApiServer({ dataDir });
    api = await openRawApi(server.kubeconfig);
    client = await openRecordedClient({ file: server.kubeconfig });
    namespaces = await fillNamespaces(api, { namespaces: 3, objects: OBJECTS });
  });
  afterAll(async () => {
    await client?.close();
    api?.close();
    await server?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('I90: differences after a restored backup are found and repaired', async () => {
    const backup = `${dataDir}-backup`;
    onTestFinished(() => rmSync(backup, { recursive: true, force: true }));
    // The first round begins as early as allowed.
    const options = { ...audited, random: () => 0 };
    const informer = createSharedInformer(createListWatch(client, configMaps), options);
    onTestFinished(() => informer.stop());
    await server.kill();
    cpSync(dataDir, backup, { recursive: true });
    server = await server.restart();
    informer.start();
    await informer.whenSynced();
    const write = (writes: number, names: number) =>
      startChurn({ api, resource: configMaps, namespaces, writers: 8, names, writes }).done;
    // These writes are lost with the restore, but the informer has seen them.
    await write(60, 7);
    const marker = await api.ok<ConfigMap>(
      'POST',
      `/api/v1/namespaces/${namespaces[0]}/configmaps`,
      { body: { metadata: { name: 'lost-with-the-backup' } } },
    );
    const version = marker.metadata?.resourceVersion ?? '';
    const key = `${namespaces[0]}/lost-with-the-backup`;
    await informer.whenObserved(key, version);
    await server.kill();
    rmSync(dataDir, { recursive: true });
    cpSync(backup, dataDir, { recursive: true });
    server = await server.restart();
    // The server gets more new writes than were lost before the watch reconnects, so the watch resumes at a version
    // of another history.
    await write(150, 31);
    await eventually(() => expect(informer.indexer.has(key)).toBe(false));
    figures('a restored backup', {
      'found to differ': auditOf(informer).differed,
      relists: informer.status.relists,
    });
    const mirrored = mirror(informer);
    await expectSameAsServer(informer, mirrored, {
      ...{ api, resource: configMaps, namespace: namespaces[0] as string },
    });
  });
});
