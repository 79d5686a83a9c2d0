/** The service account of a pod: its address, CA and token, when it is used, and that client-node is not loaded for it. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientFromKubeConfig, inspectKubeConfig } from 'rx-informer/node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { redirectServiceAccount } from '../support/pod.ts';
import { endings, folder, open, prepareKubeconfigs, server } from './kubeconfig-rig.ts';
import { kubeconfig } from './kubeconfigs.ts';
import { testOnlyCa } from './test-only-certificates.ts';

const loaded = vi.hoisted(() => ({ clientNode: 0 }));
vi.mock('@kubernetes/client-node', async (original) => {
  loaded.clientNode++;
  return await original();
});

prepareKubeconfigs();
let account = '';
beforeEach(() => {
  loaded.clientNode = 0;
  account = join(folder(), 'account');
  mkdirSync(account);
  endings.push(async () => restore());
  const restore = redirectServiceAccount(account);
  delete process.env.KUBECONFIG;
  process.env.HOME = folder();
});
afterEach(() => vi.restoreAllMocks());

const version = { path: '/version' };

/** Mounts the files of a service account, and sets the variables of its pod. */
function mount(port: number | string, token = 'of-the-pod', host = '127.0.0.1', ca = testOnlyCa) {
  writeFileSync(join(account, 'token'), token);
  writeFileSync(join(account, 'ca.crt'), ca);
  process.env.KUBERNETES_SERVICE_HOST = host;
  process.env.KUBERNETES_SERVICE_PORT = String(port);
}

describe('the service account of a pod', () => {
  it('T58: its address, CA and token are used over HTTP/2, and client-node is not loaded', async () => {
    const { port, url } = await server('http2');
    mount(port, 'of-the-pod\n');
    const client = await open({});
    expect(client.baseUrl).toBe(url);
    expect(await client.request(version)).toEqual({ authorization: 'Bearer of-the-pod' });
    expect(client.protocol).toBe('h2');
    expect(loaded.clientNode).toBe(0);
  });

  it.each([
    ['10.96.0.1', '443', 'https://10.96.0.1:443'],
    ['fd00:10:96::1', '6443', 'https://[fd00:10:96::1]:6443'],
    ['kubernetes.default.svc', '8080', 'https://kubernetes.default.svc:8080'],
  ])('T58: the address of %s and port %s is %s', async (host, port, address) => {
    mount(port, 'token', host);
    expect((await open({})).baseUrl).toBe(address);
  });

  it('T58: the token is read again after a few seconds and after a 401, and no other user is sent', async () => {
    let good = 'Bearer one';
    const api = await server('https', ({ headers }) => headers.authorization === good);
    mount(api.port, 'one');
    const client = await open({});
    expect(await client.request(version)).toEqual({ authorization: good });
    const answered = async (token: string) => {
      writeFileSync(join(account, 'token'), token);
      good = `Bearer ${token}`;
      expect(await client.request(version)).toEqual({ authorization: good });
    };
    await answered('two');
    const now = 1e9;
    vi.spyOn(performance, 'now').mockReturnValue(now + 6_000);
    await answered('three');
    expect(api.seen.map(({ headers }) => headers.authorization)).toEqual([
      ...['Bearer one', 'Bearer one', 'Bearer two', 'Bearer three'],
    ]);
    // An empty or missing file leaves the last token in use.
    vi.spyOn(performance, 'now').mockReturnValue(now + 12_000);
    rmSync(join(account, 'token'));
    expect(await client.request(version)).toEqual({ authorization: 'Bearer three' });
    expect(loaded.clientNode).toBe(0);
  });

  it('T58: while the token is empty, a request fails and is not anonymous', async () => {
    const api = await server('https');
    mount(api.port, '\n');
    const client = await open({});
    await expect(client.request(version)).rejects.toMatchObject({
      reason: 'Credentials',
      message: expect.stringContaining(
        "the token file of user 'inClusterUser' is empty: /var/run/secrets/kubernetes.io/serviceaccount/token",
      ),
    });
    expect(api.seen).toEqual([]);
  });

  it.each([
    ['is missing', undefined, 'ENOENT'],
    ['has no certificate', 'none', 'it has no certificate'],
  ])(
    'T58: if the CA %s, a warning says so, and an unknown server gets no token',
    async (_, ca, why) => {
      const api = await server('https');
      mount(api.port, 'hunter2', '127.0.0.1', ca);
      if (ca === undefined) rmSync(join(account, 'ca.crt'));
      const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
      const client = await open({});
      expect(warn.mock.calls).toEqual([
        [
          `clientFromKubeConfig: the CA of the service account cannot be used (/var/run/secrets/kubernetes.io/serviceaccount/ca.crt: ${why}), so the CAs that Node trusts are used`,
        ],
      ]);
      await expect(client.request(version)).rejects.toMatchObject({ reason: 'Network' });
      expect(api.seen).toEqual([]);
    },
  );

  it('T58: KUBECONFIG and ~/.kube/config take precedence over it', async () => {
    mount(1);
    const home = join(folder(), '.kube');
    mkdirSync(home);
    writeFileSync(join(home, 'config'), kubeconfig({ server: 'http://home.test' }));
    expect((await open({})).baseUrl).toBe('http://home.test');
    process.env.KUBECONFIG = join(folder(), 'config');
    writeFileSync(process.env.KUBECONFIG, kubeconfig({ server: 'http://listed.test' }));
    expect((await open({})).baseUrl).toBe('http://listed.test');
  });

  it('T58: a context that it lacks is refused', async () => {
    mount(1);
    await expect(clientFromKubeConfig({ context: 'prod' })).rejects.toThrow(
      "the kubeconfig has no context 'prod'; there are: 'inClusterContext'",
    );
  });

  it('C50: inspectKubeConfig says what it sees', async () => {
    const { port } = await server('https');
    mount(port);
    expect(await inspectKubeConfig()()).toMatchObject({
      credentials: { kind: 'token', renews: true },
      tls: expect.stringContaining('TLS'),
    });
    expect(loaded.clientNode).toBe(0);
  });

  it.each([
    ['outside of a pod', false, false, 'this process is not in a pod'],
    [
      'in a pod without a token',
      true,
      false,
      'this pod has no service account: /var/run/secrets/kubernetes.io/serviceaccount/token does not exist (automountServiceAccountToken)',
    ],
    [
      'without the variables',
      false,
      true,
      'this pod has a service account, but KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not set',
    ],
  ])('T58: %s the error says what is missing', async (_, hasVariables, hasToken, missing) => {
    mount(443);
    if (!hasToken) rmSync(join(account, 'token'));
    if (!hasVariables) delete process.env.KUBERNETES_SERVICE_PORT;
    await expect(clientFromKubeConfig()).rejects.toThrow(
      `clientFromKubeConfig: no kubeconfig: KUBECONFIG is not set, ~/.kube/config does not exist, and ${missing}; give file or text`,
    );
  });
});
