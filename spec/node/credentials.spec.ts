/** Credentials of a kubeconfig (certificates, files, plugins), and that no error shows them. */
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, expect, it, vi } from 'vitest';
import { eventually } from '../support/patience.ts';
import { endings, folder, open, prepareKubeconfigs, server } from './kubeconfig-rig.ts';
import { base64, kubeconfig } from './kubeconfigs.ts';
import { expectClean } from './seen.ts';
import { listen } from './servers.ts';
import { testOnlyCa, testOnlyClientCert, testOnlyClientKey } from './test-only-certificates.ts';

prepareKubeconfigs();

interface Answer {
  authorization?: string;
  peer?: string;
}
const version = { path: '/version' };

/** A plugin that counts its runs in a file and runs this program. */
function plugin(body: string): { exec: object; runs: () => number } {
  const counter = join(folder(), 'runs');
  const file = join(folder(), 'plugin.mjs');
  writeFileSync(counter, '');
  writeFileSync(
    file,
    `import { appendFileSync, readFileSync } from 'node:fs';
    appendFileSync(${JSON.stringify(counter)}, 'x');
    const run = readFileSync(${JSON.stringify(counter)}).length;
    ${body}`,
  );
  chmodSync(file, 0o700);
  const apiVersion = 'client.authentication.k8s.io/v1';
  return {
    exec: { apiVersion, command: process.execPath, args: [file, '--password=hunter2'] },
    runs: () => readFileSync(counter).length,
  };
}

/** The code of a plugin that prints a token. */
const printToken = (token: string, more = '') =>
  `console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token: ${token} ${more} } }));`;

it('a client certificate is sent', async () => {
  const { url } = await server('http2', undefined, { clientCertificates: true });
  const user = {
    'client-certificate-data': base64(testOnlyClientCert),
    'client-key-data': base64(testOnlyClientKey),
  };
  const cluster = { server: url, 'certificate-authority-data': base64(testOnlyCa) };
  const client = await open({ text: kubeconfig(cluster, user) });
  expect(await client.request<Answer>(version)).toEqual({ peer: 'test-only client' });
});

/** Credentials are read again after this time. */
let nowMs = 1e9;
function passSixSeconds(): void {
  nowMs += 6_000;
  vi.spyOn(performance, 'now').mockReturnValue(nowMs);
}
afterEach(() => vi.restoreAllMocks());

it('T71: a token file is read again after a 401', async () => {
  let good = 'Bearer one';
  const api = await server('http', (request) => request.headers.authorization === good);
  writeFileSync(join(folder(), 'token'), 'one\n');
  const file = join(folder(), 'config');
  writeFileSync(file, kubeconfig({ server: api.url }, { tokenFile: './token', token: 'old' }));
  const client = await open({ file });
  expect(await client.request(version)).toEqual({ authorization: 'Bearer one' });

  good = 'Bearer two';
  writeFileSync(join(folder(), 'token'), 'two\n');
  expect(await client.request(version)).toEqual({ authorization: 'Bearer two' });
  expect(api.seen.map((request) => request.headers.authorization)).toEqual([
    'Bearer one',
    'Bearer one',
    'Bearer two',
  ]);
});

it('T16: a pod sends no anonymous request while the token file of its service account is empty', async () => {
  const api = await server('http');
  Object.assign(process.env, {
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: '1',
  });
  const config = new KubeConfig();
  config.loadFromCluster(folder());
  const token = join(folder(), 'var/run/secrets/kubernetes.io/serviceaccount/token');
  mkdirSync(dirname(token), { recursive: true });
  writeFileSync(token, '');
  config.clusters = [{ name: 'inCluster', server: api.url, skipTLSVerify: false }];
  const client = await open(config);
  await expect(client.request(version)).rejects.toThrow(
    `the token file of user 'inClusterUser' is empty: ${token}`,
  );
  writeFileSync(token, 'one');
  expect(await client.request(version)).toEqual({ authorization: 'Bearer one' });
  expect(api.seen).toHaveLength(1);
});

it('T71: a token file that becomes empty or missing leaves its last token in use until a 401', async () => {
  let good = 'Bearer one';
  const api = await server('http', (request) => request.headers.authorization === good);
  const tokenFile = join(folder(), 'token');
  writeFileSync(tokenFile, 'one');
  const text = kubeconfig({ server: api.url }, { tokenFile, token: 'old' });
  const [client, second] = [
    await open({ text: kubeconfig({ server: api.url }, { tokenFile }) }),
    await open({ text }),
  ];
  const both = () => Promise.all([client.request(version), second.request(version)]);
  await both();
  writeFileSync(tokenFile, '\n');
  passSixSeconds();
  await both();
  rmSync(tokenFile);
  passSixSeconds();
  await both();
  expect(new Set(api.seen.map(({ headers }) => headers.authorization))).toEqual(new Set([good]));

  good = 'Bearer old';
  await expect(client.request(version)).rejects.toThrow(`ENOENT: ${tokenFile}`);
  expect(await second.request(version)).toEqual({ authorization: 'Bearer old' });
});

it.each([
  ['new credentials', "'token-' + run", 'Bearer token-2'],
  ['the same credentials', "'token-1'", 'never'],
])(
  'T71: refused requests that are older than the last reading cause one more, which returns %s',
  async (_, token, accepted) => {
    let good = 'Bearer token-1';
    const held: (() => void)[] = [];
    const api = await listen('http', ({ url, headers }, response) => {
      const respond = () => {
        response.writeHead(headers.authorization === good ? 200 : 401);
        response.end();
      };
      if (url === '/held' && held.length < 2) held.push(respond);
      else respond();
    });
    endings.push(() => api.close());
    const { exec, runs } = plugin(printToken(token));
    const client = await open({ text: kubeconfig({ server: api.url }, { exec }) });
    const requests = [1, 2].map(() =>
      client.request({ path: '/held' }).then(
        () => 'answered',
        ({ reason }) => reason,
      ),
    );
    await eventually(() => held.length === 2, 'both requests');
    passSixSeconds();
    await client.request(version);
    expect(runs()).toBe(1);
    good = accepted;
    const outcome = accepted === 'never' ? 'Unauthorized' : 'answered';
    for (const [at, request] of requests.entries()) {
      held[at]?.();
      expect(await request).toBe(outcome);
    }
    expect(runs()).toBe(2);
  },
);

it('a static token that was refused is not sent again', async () => {
  const api = await server('http', () => false);
  const client = await open({ text: kubeconfig({ server: api.url }, { token: 'hunter2' }) });
  const error = await client.request(version).catch((reason) => reason);
  expect(expectClean(error, 'Unauthorized', ['hunter2']).code).toBe(401);
  expect(api.seen).toHaveLength(1);
});

it('T71: an exec plugin runs once for many requests, and once more after many 401s', async () => {
  let good = 'Bearer token-1';
  const api = await server('http', (request) => request.headers.authorization === good);
  const { exec, runs } = plugin(printToken("'token-' + run"));
  const client = await open({ text: kubeconfig({ server: api.url }, { exec }) });
  const ten = () => Promise.all(Array.from({ length: 10 }, () => client.request(version)));
  expect(runs()).toBe(0);
  await ten();
  expect(runs()).toBe(1);
  good = 'Bearer token-2';
  expect(await ten()).toEqual(Array(10).fill({ authorization: 'Bearer token-2' }));
  expect(runs()).toBe(2);
});

it('T71: a second 401 is reported', async () => {
  const api = await server('http', () => false);
  const { exec, runs } = plugin(printToken("'hunter2-' + run"));
  const client = await open({ text: kubeconfig({ server: api.url }, { exec }) });
  const error = await client.request(version).catch((reason) => reason);
  expectClean(error, 'Unauthorized', ['hunter2']);
  expect(runs()).toBe(2);
  expect(api.seen).toHaveLength(2);
});

it('a certificate returned by a plugin is sent', async () => {
  const { url } = await server('https', undefined, { clientCertificates: true });
  const pair = JSON.stringify({
    clientCertificateData: testOnlyClientCert,
    clientKeyData: testOnlyClientKey,
  });
  const { exec } = plugin(printToken('undefined', `, ...${pair}`));
  const cluster = { server: url, 'certificate-authority-data': base64(testOnlyCa) };
  const client = await open({ text: kubeconfig(cluster, { exec }) });
  expect(await client.request<Answer>(version)).toEqual({ peer: 'test-only client' });
});

it.each([
  ['fails', "process.stderr.write('token=hunter2'); process.exit(1);"],
  ['prints invalid JSON', "console.log('hunter2 {');"],
  ['prints other JSON', 'console.log(\'{"token":"hunter2"}\');'],
  ['prints nothing', ''],
])('no output of the plugin is quoted if it %s', async (_, body) => {
  const api = await server('http');
  const { exec, runs } = plugin(body);
  const client = await open({ text: kubeconfig({ server: api.url }, { exec }) });
  const errors = await Promise.all(
    Array.from({ length: 3 }, () => client.request(version).catch((reason) => reason)),
  );
  for (const error of errors) {
    const { message, retryable } = expectClean(error, 'Credentials', ['hunter2']);
    expect(message).toMatch(/credential plugin '.*node' of user 'dev' failed/);
    expect(retryable).toBe(true);
  }
  expect(runs()).toBe(1);
  expect(api.seen).toHaveLength(0);
  // The next request tries again.
  await client.request(version).catch(() => {});
  expect(runs()).toBe(2);
});

it('a plugin or a file that does not exist is named', async () => {
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'no-such-plugin' };
  const one = await open({ text: kubeconfig({ server: 'http://127.0.0.1:1' }, { exec }) });
  await expect(one.request(version)).rejects.toThrow(
    "the credential plugin 'no-such-plugin' of user 'dev' failed (ENOENT)",
  );
  const user = { 'client-certificate': '/no/such.crt', 'client-key': '/no/such.key' };
  const two = await open({ text: kubeconfig({ server: 'https://127.0.0.1:1' }, user) });
  await expect(two.request(version)).rejects.toThrow('(ENOENT: /no/such.crt)');
});

it('a closed client refuses all requests', async () => {
  const { url } = await server('http');
  const client = await open({ text: kubeconfig({ server: url }, { token: 't' }) });
  await client.request(version);
  await client.close();
  await expect(client.request(version)).rejects.toMatchObject({ reason: 'Stopped' });
});
