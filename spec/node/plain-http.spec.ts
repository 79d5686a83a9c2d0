/** A cluster over http: no credentials of the kubeconfig leave, no plugin runs, and one warning says so. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { createClient } from 'rx-informer';
import { clientFromKubeConfig, type KubeConfigClientOptions } from 'rx-informer/node';
import { afterEach, beforeEach, expect, it, type MockInstance, vi } from 'vitest';
import { endings, folder, prepareKubeconfigs, server } from './kubeconfig-rig.ts';
import { base64, kubeconfig } from './kubeconfigs.ts';
import { testOnlyCa, testOnlyClientCert, testOnlyClientKey } from './test-only-certificates.ts';

prepareKubeconfigs();

const version = { path: '/version' };
const apiVersion = 'client.authentication.k8s.io/v1';
const printing = (token: string) =>
  JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token } });

let warn: MockInstance<typeof console.warn>;
beforeEach(() => {
  warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
});
afterEach(() => warn.mockRestore());

async function opened(source: KubeConfigClientOptions | KubeConfig) {
  const client = await clientFromKubeConfig(source);
  endings.push(() => client.close());
  return client;
}

/** A plugin that leaves a file when it runs. */
function plugin() {
  const trace = join(folder(), 'ran');
  const args = ['-c', `touch '${trace}'; echo '${printing('hunter2')}'`];
  return {
    exec: { apiVersion, command: 'sh', args, interactiveMode: 'Never' },
    ran: () => existsSync(trace),
  };
}

it.each([
  ['a token', { token: 'hunter2' }],
  ['a password', { username: 'me', password: 'hunter2' }],
  ['a token file', { tokenFile: '/no/such/file' }],
  ['an auth-provider', { 'auth-provider': { name: 'oidc', config: { 'id-token': 'hunter2' } } }],
  [
    'a client certificate',
    {
      'client-certificate-data': base64(testOnlyClientCert),
      'client-key-data': base64(testOnlyClientKey),
    },
  ],
])('T23: over http %s is not sent, and one warning names context and user', async (_, user) => {
  const api = await server('http');
  const client = await opened({ text: kubeconfig({ server: api.url }, user) });
  await client.request(version);
  await client.request(version);
  expect(api.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
  expect(warn).toHaveBeenCalledTimes(1);
  const [text] = warn.mock.calls[0] ?? [];
  expect(text).toMatch(/context 'dev'.*user 'dev'.*credentialsOverHttp/s);
  expect(text).not.toContain('hunter2');
});

it('T23: over http no plugin runs', async () => {
  const api = await server('http');
  const { exec, ran } = plugin();
  await (await opened({ text: kubeconfig({ server: api.url }, { exec }) })).request(version);
  expect(api.seen[0]?.headers.authorization).toBeUndefined();
  expect(ran()).toBe(false);
  expect(warn).toHaveBeenCalledTimes(1);
});

it('T23: over http no authenticator of the caller is asked', async () => {
  const api = await server('http');
  const config = new KubeConfig();
  let asked = 0;
  config.addAuthenticator({
    isAuthProvider: () => true,
    applyAuthentication: async (_user, options) => {
      asked++;
      options.headers = { Authorization: 'Bearer hunter2' };
    },
  });
  const { port } = api;
  config.loadFromString(
    kubeconfig({ server: `HTTP://127.0.0.1:${port}` }, { 'auth-provider': { name: 'mine' } }),
  );
  await (await opened(config)).request(version);
  expect([asked, api.seen[0]?.headers.authorization]).toEqual([0, undefined]);
});

it('T23: impersonation is sent over http, because it is no credential and may restrict a proxy', async () => {
  const api = await server('http');
  await (await opened({ text: kubeconfig({ server: api.url }, { as: 'viewer' }) })).request(
    version,
  );
  expect(api.seen[0]?.headers['impersonate-user']).toBe('viewer');
  expect(warn).not.toHaveBeenCalled();
});

it('T23: credentialsOverHttp sends the credentials over http, without a warning', async () => {
  const api = await server('http');
  const { exec } = plugin();
  for (const user of [{ token: 'hunter2' }, { exec }]) {
    const text = kubeconfig({ server: api.url }, user);
    const client = await opened({ text, credentialsOverHttp: true });
    expect(await client.request(version)).toEqual({ authorization: 'Bearer hunter2' });
  }
  expect(warn).not.toHaveBeenCalled();
});

it('T23: headers that the caller gives are sent over http', async () => {
  const api = await server('http');
  const headers = { authorization: 'Bearer mine' };
  const text = kubeconfig({ server: api.url }, { token: 'hunter2' });
  const clients = [await opened({ text, headers }), createClient({ baseUrl: api.url, headers })];
  for (const client of clients) {
    expect(await client.request(version)).toEqual({ authorization: 'Bearer mine' });
  }
});

it('T23: a kubeconfig without credentials causes no warning, nor do credentials over https', async () => {
  const [plain, secure] = [await server('http'), await server('https')];
  await (await opened({ text: kubeconfig({ server: plain.url }) })).request(version);
  const cluster = { server: secure.url, 'certificate-authority-data': base64(testOnlyCa) };
  const client = await opened({ text: kubeconfig(cluster, { token: 'good' }) });
  expect(await client.request(version)).toEqual({ authorization: 'Bearer good' });
  expect(warn).not.toHaveBeenCalled();
});
