/** Tests faults of the TLS connections to the real server: no change is lost. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createListWatch, createSharedInformer, exponentialBackoff } from 'rx-informer';
import { configMaps } from 'rx-informer/resources';
import { createFaultMachine, createTcpProxy, type TcpProxy } from 'rx-informer/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isGate } from '../support/gate.ts';
import { eventually } from '../support/patience.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { startChurn } from './churn.ts';
import { noControl } from './cluster.ts';
import { expectSameAsServer, mirror, until } from './mirror.ts';
import { fillNamespaces } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { openRecordedClient, type RecordedClient } from './recorded-client.ts';

const backoff = exponentialBackoff({ baseMs: 50, capMs: 500 });

describe.skipIf(noControl)('faults of connections', () => {
  let folder: string;
  let server: ApiServerProcess;
  let api: RawApi;
  let proxy: TcpProxy;
  let client: RecordedClient;
  let namespaces: readonly string[];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rx-informer-tcp-'));
    server = await startApiServer();
    api = await openRawApi(server.kubeconfig);
    namespaces = await fillNamespaces(api, { namespaces: 2, objects: 200 });
    proxy = await createTcpProxy({ target: server.url });
    const { port } = new URL(server.url);
    const direct = readFileSync(server.kubeconfig, 'utf8');
    const file = join(folder, 'kubeconfig');
    writeFileSync(file, direct.replaceAll(`:${port}`, `:${proxy.port}`));
    // Over HTTP/2 a dead connection is closed only after a late response head and an unanswered ping.
    client = await openRecordedClient({ file, headersTimeoutMs: 1_500 });
  });
  afterAll(async () => {
    await client?.close();
    await proxy?.close();
    api?.close();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const place = () => ({ api, resource: configMaps, namespace: namespaces[0] as string });
  const churn = (writes: number) =>
    startChurn({ api, resource: configMaps, namespaces, writers: 4, writes });
  const open = async () => {
    const informer = createSharedInformer(createListWatch(client, configMaps), {
      backoff,
      idleTimeoutMs: 4_000,
      requestTimeoutMs: 4_000,
    });
    onTestFinished(() => informer.stop());
    const mirrored = mirror(informer);
    await informer.whenSynced();
    return { informer, mirrored };
  };

  it('A58, R15: on half-open connections the silence is detected, and missed changes are delivered', async () => {
    const { informer, mirrored } = await open();
    const fault = proxy.halfOpen();
    const busy = churn(50);
    const silent = await until(informer.status$, ({ error }) => error?.reason === 'Silent');
    expect(silent).toMatchObject({ phase: 'backoff', synced: true });
    fault.heal();
    await busy.done;
    await expectSameAsServer(informer, mirrored, place());
  });

  it.each(isGate ? [1] : [1, 2, 3])('A50, A58: the faults of seed %i', async (seed) => {
    const { informer, mirrored } = await open();
    const machine = createFaultMachine(undefined, { seed, proxy, meanMs: 400, maxForMs: 3_000 });
    const busy = churn(400);
    machine.start();
    await eventually(() => machine.played.length > 15, 'the faults');
    machine.heal();
    await busy.done;
    await expectSameAsServer(informer, mirrored, place());
  });
});
