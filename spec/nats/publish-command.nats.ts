/** `rx-informer publish` as processes, with a real nats-server and the fake API server. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leases, namespaces, pods } from 'rx-informer/resources';
import type { Served } from 'rx-informer/testing';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  testOnlyCa,
  testOnlyServerCert,
  testOnlyServerKey,
} from '../node/test-only-certificates.ts';
import { eventually } from '../support/patience.ts';
import { NatsServer } from './nats-server.ts';
import { PublishProcess } from './publish-process.ts';
import { contents, Scene } from './scene.ts';

let nats: NatsServer;
let scene: Scene;
let served: Served;

beforeEach(async () => {
  nats = await NatsServer.start();
  scene = new Scene(nats);
  served = await scene.api.serve({ port: 0 });
});
afterEach(async () => {
  await scene.stop();
  await served.close();
  await nats.stop();
});

function publish(...args: readonly string[]): PublishProcess {
  const started = new PublishProcess({
    ...{ api: served.url, nats: nats.url },
    args: ['--heartbeat', '0.2', ...args],
  });
  onTestFinished(async () => {
    await started.end('SIGKILL');
  });
  return started;
}

describe('rx-informer publish', () => {
  it('J62: readers have what the API server has, and SIGTERM ends the process with code 0', async () => {
    scene.create('shop', 'web-0');
    scene.create('bank', 'db-0');
    const publisher = publish('--kind', 'pods,configmaps');
    await publisher.says('pods: publishing: 2 objects');
    await publisher.says('configmaps: publishing: 0 objects');
    const { informer } = await scene.reader();
    await informer.whenSynced();
    scene.create('shop', 'web-1');
    await eventually(() => contents(informer).length === 3, 'web-1');
    expect(await publisher.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(publisher.text).toContain('pods: stopped: stopped');
  });

  it('J62: with --namespace and --as metadata, only that is published', async () => {
    scene.api.objects.create(pods, {
      metadata: { namespace: 'shop', name: 'web-0' },
      spec: { nodeName: 'node-1' },
    } as never);
    scene.create('bank', 'db-0');
    const publisher = publish('--kind', 'pods', '--namespace', 'shop', '--as', 'metadata');
    await publisher.says('pods: publishing: 1 objects');
    const { informer } = await scene.reader();
    await informer.whenSynced();
    const [pod, ...others] = informer.indexer.list();
    expect(others).toEqual([]);
    expect(pod).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'web-0' } });
    expect(pod).not.toHaveProperty('spec');
  });

  it('J15: the cluster is named by its namespace kube-system, and another name is refused', async () => {
    const { uid } = scene.api.objects.create(namespaces, {
      metadata: { name: 'kube-system' },
    }).metadata;
    const first = publish('--kind', 'pods');
    await first.says('pods: publishing');
    const other = publish('--kind', 'pods', '--cluster', 'other');
    await other.says(`the bucket has the cluster "${uid}", and this publisher "other"`);
  });

  it('J62: Secrets that are named are published, with a warning', async () => {
    const publisher = publish('--kind', 'secrets');
    await publisher.says('can read these Secrets');
    await publisher.says('secrets: publishing: 0 objects');
  });

  it('J62: of two publishers the one with the Lease writes, and SIGTERM releases the Lease', async () => {
    scene.create('shop', 'web-0');
    const lease = ['--lease', 'shop/publisher', '--lease-seconds', '15'];
    const first = publish('--kind', 'pods', ...lease);
    await first.says('pods: publishing');
    const second = publish('--kind', 'pods', ...lease);
    await second.says('pods: standby');
    const { informer } = await scene.reader();
    await informer.whenSynced();
    const held = () =>
      scene.api.objects.get(leases, { namespace: 'shop', name: 'publisher' })?.spec;
    const holder = held()?.holderIdentity;
    expect(await first.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(first.text).toContain('stopping, and releasing the Lease');
    // A Lease that was not released would be waited for.
    expect(held()?.holderIdentity).not.toBe(holder);
    scene.create('shop', 'web-1');
    await second.says('pods: publishing');
    await eventually(() => contents(informer).length === 2, 'web-1');
    expect(informer.status.relists).toBe(0);
    expect(held()).toMatchObject({ leaseDurationSeconds: 15 });
  });

  it('J61: a NATS server that never answers ends the command with exit code 1', async () => {
    const silent = createServer((socket) => void socket.on('error', () => undefined)).listen(
      0,
      '127.0.0.1',
    );
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const publisher = new PublishProcess({
      ...{ api: served.url, nats: `nats://127.0.0.1:${port}` },
      args: ['--kind', 'pods'],
    });
    await eventually(() => !publisher.isRunning, 'the end of the process');
    expect(await publisher.end('SIGKILL')).toEqual({ code: 1, signal: null });
    expect(publisher.text).toContain(`cannot connect to NATS at nats://127.0.0.1:${port}: timeout`);
    silent.close();
  });

  it.each<[string, (server: NatsServer) => unknown]>([
    ['is gone', (server) => server.kill()],
    ['does not answer', (server) => server.freeze()],
  ])('J62: SIGTERM ends a publisher whose NATS server %s', async (_title, hurt) => {
    scene.create('shop', 'web-0');
    const publisher = publish('--kind', 'pods', '--lease', 'shop/publisher');
    await publisher.says('pods: publishing');
    await hurt(nats);
    onTestFinished(() => nats.thaw());
    // While a message is on its way: the process has read the change when it has renewed the Lease after it, or given it up.
    scene.create('shop', 'web-1');
    const lease = () => scene.api.objects.get(leases, { namespace: 'shop', name: 'publisher' });
    const isGivenUp = () => (lease()?.spec?.holderIdentity ?? '') === '';
    for (const _renewal of [1, 2]) {
      const version = lease()?.metadata.resourceVersion;
      const isRenewed = () => lease()?.metadata.resourceVersion !== version;
      await eventually(() => isRenewed() || isGivenUp(), 'a renewal');
    }
    const ended = publisher.end('SIGTERM');
    await eventually(() => !publisher.isRunning, 'the end of the process');
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(lease()?.spec?.holderIdentity ?? '').toBe('');
  });

  it('J65: with tls:// a server that offers TLS is used, once its certificate is trusted', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rx-informer-tls-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [ca, cert, key] = ['ca', 'cert', 'key'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(ca, testOnlyCa);
    writeFileSync(cert, testOnlyServerCert);
    writeFileSync(key, testOnlyServerKey);
    const files = { cert_file: cert, key_file: key };
    const encrypted = await NatsServer.start({ config: `tls: ${JSON.stringify(files)}` });
    onTestFinished(() => encrypted.stop());
    const address = { api: served.url, nats: encrypted.url.replace('nats:', 'tls:') };
    const untrusting = new PublishProcess({ ...address, args: ['--kind', 'pods'] });
    await untrusting.says('cannot connect to NATS');
    await untrusting.end('SIGKILL');
    const trusting = new PublishProcess({ ...address, args: ['--kind', 'pods', '--nats-ca', ca] });
    onTestFinished(async () => {
      await trusting.end('SIGKILL');
    });
    await trusting.says('pods: publishing');
  });

  it('J62: a failure of the API server is reported in words, and so is its end', async () => {
    const fault = scene.api.faults.failNext({ path: /pods/ }, { status: 403, times: 1_000 });
    const publisher = publish('--kind', 'pods');
    await publisher.says('pods: the API server cannot be followed: ');
    fault.heal();
    await publisher.says('pods: the API server is followed again');
    await publisher.says('pods: publishing');
  });
});
