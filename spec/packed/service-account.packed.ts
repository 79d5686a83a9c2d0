/** The packed library in a pod, where `@kubernetes/client-node` is not installed: the service account suffices. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pods } from 'rx-informer/resources';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testOnlyCa } from '../node/test-only-certificates.ts';
import { podModule } from '../support/pod.ts';
import { installConsumer, installIn, run } from './consumer.ts';
import { guardedCluster } from './guarded-cluster.ts';

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rx-informer-pod-'));
  const { tarball } = await installConsumer();
  await installIn(folder, tarball, { rxjs: '^7.8.2', undici: '^8.12.4' });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program in a pod with a service account, or outside of one. */
async function printed(text: string, port: number, isMounted: boolean) {
  const account = join(folder, 'account');
  rmSync(account, { recursive: true, force: true });
  mkdirSync(account);
  if (isMounted) {
    writeFileSync(join(account, 'token'), 'of-the-pod');
    writeFileSync(join(account, 'ca.crt'), testOnlyCa);
  }
  const pod = join(folder, 'pod.mjs');
  writeFileSync(pod, podModule(account, port));
  const program = join(folder, 'program.mjs');
  writeFileSync(program, text);
  return run(process.execPath, ['--import', pathToFileURL(pod).href, program], folder);
}

it.each(['https', 'http2'] as const)(
  'T58: in a pod an informer runs over %s without client-node',
  async (protocol) => {
    expect(existsSync(join(folder, 'node_modules/@kubernetes'))).toBe(false);
    await using cluster = await guardedCluster(protocol);
    cluster.tokens.add('of-the-pod');
    const place = { namespace: 'shop', name: 'web-0' };
    cluster.server.objects.create(pods, { metadata: place });
    const program = `
      import { createListWatch, createResourceClient, createSharedInformer } from 'rx-informer';
      import { clientFromKubeConfig } from 'rx-informer/node';
      import { configMaps, pods } from 'rx-informer/resources';
      const client = await clientFromKubeConfig();
      const informer = createSharedInformer(createListWatch(client, pods, { namespace: 'shop' }));
      informer.start();
      await informer.whenSynced();
      const shop = createResourceClient(client, configMaps).namespace('shop');
      const written = await shop.create({ metadata: { name: 'prices' } });
      console.log(informer.indexer.listKeys().join(), written.metadata.name, client.protocol);
      await informer.stop();
      await client.close();`;
    const spoken = protocol === 'http2' ? 'h2' : 'http/1.1';
    expect(await printed(program, cluster.port, true)).toEqual({
      code: 0,
      stdout: `shop/web-0 prices ${spoken}\n`,
      stderr: '',
    });
    expect(new Set(cluster.allowed.map(({ user }) => user))).toEqual(new Set(['token of-the-pod']));
    expect(cluster.refused).toBe(0);
  },
);

it('T52: without a service account, and for a kubeconfig, the error says what to install', async () => {
  const program = `
    import { clientFromKubeConfig } from 'rx-informer/node';
    for (const source of [{}, { text: 'kind: Config' }]) {
      await clientFromKubeConfig(source).catch(({ message }) => console.log(message));
    }`;
  const { stdout } = await printed(program, 443, false);
  const install =
    "needs the package '@kubernetes/client-node': npm install @kubernetes/client-node";
  expect(stdout.split('\n')).toEqual([
    `clientFromKubeConfig: no kubeconfig: KUBECONFIG is not set, ~/.kube/config does not exist, and this pod has no service account: /var/run/secrets/kubernetes.io/serviceaccount/token does not exist (automountServiceAccountToken); give file or text (which ${install})`,
    `clientFromKubeConfig ${install}`,
    '',
  ]);
});
