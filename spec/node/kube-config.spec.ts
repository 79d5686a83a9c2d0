/** Kubeconfigs with real servers on loopback: user, cluster, context, credentials (certificates, files, plugins), and errors that show no secret. */
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { createClient, differentialDecoding } from 'rx-informer';
import {
  clientFromKubeConfig,
  createUndiciTransport,
  type KubeConfigClientOptions,
} from 'rx-informer/node';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '../support/patience.ts';
import { endings, folder, open, prepareKubeconfigs, server } from './kubeconfig-rig.ts';
import { base64, kubeconfig } from './kubeconfigs.ts';
import { expectClean, printed } from './seen.ts';
import { listen } from './servers.ts';
import { testOnlyCa, testOnlyClientCert, testOnlyClientKey } from './test-only-certificates.ts';

prepareKubeconfigs();

const version = { path: '/version' };

describe('the server and the user of a client', () => {
  it('kubectl proxy is supported: plain http without a user', async () => {
    const proxy = await server('http');
    const client = await open({ text: kubeconfig({ server: `${proxy.url}/` }) });
    expect(client.baseUrl).toBe(proxy.url);
    expect(await client.request(version)).toEqual({});
  });

  it('D36: its collections are decoded differentially, as those of every client over undici', async () => {
    const { url: baseUrl } = await server('http');
    const client = await open({ text: kubeconfig({ server: baseUrl }) });
    expect(client.decoding).toBe(differentialDecoding);
    const other = createClient({ baseUrl, transport: createUndiciTransport({ baseUrl }) });
    expect(other.decoding).toBe(differentialDecoding);
    await other.close();
  });

  it('the server is verified with the CA of the cluster, also without a user', async () => {
    const { url } = await server('http2');
    const ca = { 'certificate-authority-data': base64(testOnlyCa) };
    const client = await open({ text: kubeconfig({ server: url, ...ca }) });
    expect(await client.request(version)).toEqual({});

    const stranger = await open({ text: kubeconfig({ server: url }) });
    const error = await stranger.request(version).catch((reason) => reason);
    expect(expectClean(error, 'Network', []).message).toMatch(/CERT|SIGNATURE|ISSUER/);

    const careless = { server: url, 'insecure-skip-tls-verify': true };
    expect(await (await open({ text: kubeconfig(careless) })).request(version)).toEqual({});
  });

  it('the tls-server-name of the cluster is used', async () => {
    const { url } = await server('https');
    const cluster = (name: string) => ({
      server: url,
      'certificate-authority-data': base64(testOnlyCa),
      'tls-server-name': name,
    });
    const right = await open({ text: kubeconfig(cluster('api.test'), { token: 't' }) });
    expect(await right.request(version)).toMatchObject({ authorization: 'Bearer t' });
    const wrong = await open({ text: kubeconfig(cluster('other.test'), { token: 't' }) });
    await expect(wrong.request(version)).rejects.toMatchObject({ reason: 'Network' });
  });

  it('the given context is used', async () => {
    const { url } = await server('http');
    const config = JSON.parse(kubeconfig({ server: url }, { token: 'first' }));
    config.users.push({ name: 'ops', user: { token: 'second' } });
    config.contexts.push({ name: 'ops', context: { cluster: 'dev', user: 'ops' } });
    const client = await open({ text: JSON.stringify(config), context: 'ops' });
    expect(await client.request(version)).toEqual({ authorization: 'Bearer second' });
  });

  it('an instance is used as it was when the client was created', async () => {
    const { url } = await server('http');
    const config = new KubeConfig();
    config.loadFromString(kubeconfig({ server: url }, { username: 'me', password: 'p:w' }));
    const client = await open(config);
    config.loadFromString(kubeconfig({ server: 'http://127.0.0.1:1' }));
    expect(await client.request(version)).toEqual({ authorization: `Basic ${base64('me:p:w')}` });
  });

  it('the files of KUBECONFIG are merged, and the first file that contains a name takes precedence', async () => {
    const { url } = await server('http');
    const files = ['a', 'missing', 'b'].map((name) => join(folder(), name));
    writeFileSync(files[0] ?? '', kubeconfig({ server: url }, { token: 'a' }));
    writeFileSync(files[2] ?? '', kubeconfig({ server: 'http://127.0.0.1:1' }, { token: 'b' }));
    process.env.KUBECONFIG = files.join(':');
    expect(await (await open({})).request(version)).toEqual({ authorization: 'Bearer a' });
  });

  it.each(['', ' \n', '---\n', '# nothing\n', 'null', '~\n'])(
    'T53: an empty file among those of KUBECONFIG is an empty kubeconfig (%j)',
    async (content) => {
      const files = ['empty', 'full'].map((name) => join(folder(), name));
      writeFileSync(files[0] ?? '', content);
      writeFileSync(files[1] ?? '', kubeconfig({ server: 'http://127.0.0.1:1' }));
      process.env.KUBECONFIG = files.join(':');
      expect((await open({})).baseUrl).toBe('http://127.0.0.1:1');
      process.env.KUBECONFIG = files[0] ?? '';
      const noContexts = 'the kubeconfig has no contexts';
      await expect(clientFromKubeConfig()).rejects.toThrow(noContexts);
      await expect(clientFromKubeConfig({ file: files[0] })).rejects.toThrow(noContexts);
    },
  );

  it('the default is ~/.kube/config', async () => {
    const { url } = await server('http');
    delete process.env.KUBECONFIG;
    process.env.HOME = folder();
    mkdirSync(join(folder(), '.kube'));
    writeFileSync(
      join(folder(), '.kube', 'config'),
      kubeconfig({ server: url }, { token: 'home' }),
    );
    expect(await (await open({})).request(version)).toEqual({ authorization: 'Bearer home' });
  });

  it('in a pod the token and the CA of the service account are used', async () => {
    const { port } = await server('https');
    const account = join(folder(), 'var/run/secrets/kubernetes.io/serviceaccount');
    mkdirSync(account, { recursive: true });
    writeFileSync(join(account, 'ca.crt'), testOnlyCa);
    writeFileSync(join(account, 'token'), 'of-the-pod');
    process.env.KUBERNETES_SERVICE_HOST = '127.0.0.1';
    process.env.KUBERNETES_SERVICE_PORT = String(port);
    const config = new KubeConfig();
    config.loadFromCluster(folder());
    expect(await (await open(config)).request(version)).toEqual({
      authorization: 'Bearer of-the-pod',
    });
  });
});

describe('a kubeconfig that cannot be used', () => {
  const failing = async (source: KubeConfigClientOptions) => {
    const error = await clientFromKubeConfig(source).catch((reason) => reason);
    expect(error).toBeInstanceOf(TypeError);
    return error as TypeError;
  };
  const text = kubeconfig({ server: 'http://127.0.0.1:1' }, { token: 'hunter2' });

  it('an unknown context is reported with the contexts that exist', async () => {
    expect((await failing({ text, context: 'prod' })).message).toBe(
      "clientFromKubeConfig: the kubeconfig has no context 'prod'; there are: 'dev'",
    );
    const config = JSON.parse(text);
    delete config['current-context'];
    expect((await failing({ text: JSON.stringify(config) })).message).toBe(
      "clientFromKubeConfig: no context is chosen: the kubeconfig has no current-context, and the option context is not set; there are: 'dev'",
    );
  });

  it.each([
    ['a: b', 'the text is not a kubeconfig: it has no clusters, contexts and users'],
    ['hello', 'the text is not a kubeconfig: it has no clusters, contexts and users'],
    ['- hunter2', 'the text is not a kubeconfig: it has no clusters, contexts and users'],
    ['', 'the text is not a kubeconfig: it has no clusters, contexts and users'],
    [
      'kind: Config\ncontexts: null\n',
      'the kubeconfig has no contexts; add one with kubectl config set-context',
    ],
    ['kind: Pod\nclusters:', 'the text is not a valid kubeconfig: kind must be Config'],
    ['apiVersion: v2\nusers:', 'the text is not a valid kubeconfig: apiVersion must be v1'],
    ['users: hunter2', 'the text is not a valid kubeconfig: users must be a list'],
    ['users: [hunter2]', 'the text is not a valid kubeconfig: users[0] must be a map'],
    [
      'users: [{ name: u, user: { token: 123 } }]',
      'the text is not a valid kubeconfig: users[0].user.token must be a string',
    ],
    [
      'users: [{ name: u, user: { client-key-data: hunter2 } }]',
      'the text is not a valid kubeconfig: users[0].user.client-key-data must be base64',
    ],
    [
      'clusters: [{}, { cluster: { insecure-skip-tls-verify: "yes" } }]',
      'the text is not a valid kubeconfig: clusters[1].cluster.insecure-skip-tls-verify must be true or false',
    ],
    [
      'users: [{ name: u, user: { token: hunter2 } }, { name: u }]',
      'the text is not a valid kubeconfig: users[1].name is the name of an earlier entry',
    ],
    [
      'clusters: [{ name: c }]\ncontexts: [{ name: d, context: { cluster: c } }]\ncurrent-context: d',
      "cluster 'c' of context 'd' has no server",
    ],
  ])('T53: the error for %j says what is missing', async (content, message) => {
    const error = await failing({ text: content });
    expect(error.message).toBe(`clientFromKubeConfig: ${message}`);
    expect(printed(error)).not.toContain('hunter2');
  });

  it('T53: what is not chosen may be incomplete, and null counts as absent', async () => {
    const config = JSON.parse(text);
    config.clusters.push({ name: 'other', cluster: {} }, null);
    config.users.push({ name: 'other', user: { 'as-uid': 'x', token: 'a', username: 'b' } });
    config.contexts.push({ name: 'other', context: null }, { name: 'third' });
    config.users[0].user.as = null;
    config.clusters[0].cluster['proxy-url'] = null;
    config.users[0].user['client-key-data'] = [];
    expect((await open({ text: JSON.stringify(config) })).baseUrl).toBe('http://127.0.0.1:1');
  });

  it('a missing cluster or user is named', async () => {
    const config = JSON.parse(text);
    config.contexts[0].context.user = 'nobody';
    expect((await failing({ text: JSON.stringify(config) })).message).toContain(
      "names user 'nobody'; there are: 'dev'",
    );
    config.contexts[0].context.cluster = 'nowhere';
    expect((await failing({ text: JSON.stringify(config) })).message).toContain(
      "names cluster 'nowhere'; there are: 'dev'",
    );
  });

  it('a file that is not valid YAML is not quoted', async () => {
    const error = await failing({ text: 'users:\n- token: hunter2\n  a: b: c\n' });
    expect(error.message).toContain(
      'the text is not a valid kubeconfig: the YAML cannot be parsed (line 3)',
    );
    expect(printed(error)).not.toContain('hunter2');
  });

  it('if no kubeconfig is found, the error names the places that were searched', async () => {
    expect((await failing({ file: join(folder(), 'none') })).message).toContain('(ENOENT)');
    process.env.KUBECONFIG = join(folder(), 'none');
    expect((await failing({})).message).toContain('KUBECONFIG names no file that exists');
    delete process.env.KUBECONFIG;
    process.env.HOME = folder();
    expect((await failing({})).message).toMatch(/^clientFromKubeConfig: no kubeconfig: KUBECONFIG/);
  });

  it('a proxy that cannot be used is refused without showing its password', async () => {
    const cluster = { server: 'https://127.0.0.1:1', 'proxy-url': 'socks4://me:hunter2@host' };
    const error = await failing({ text: kubeconfig(cluster, { token: 't' }) });
    expect(error.message).toContain('its scheme is socks4:');
    expect(printed(error)).not.toContain('hunter2');
  });
});

interface Answer {
  authorization?: string;
  peer?: string;
}
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

it('the connections with a certificate that was replaced end', async () => {
  const sockets = new Map<Socket, string | undefined>();
  const handler: Parameters<typeof listen>[1] = (request, response) => {
    const { authorization } = request.headers;
    sockets.set(request.socket, authorization);
    const isRefused = request.url === '/refused' && authorization === 'Bearer t-1';
    const headers = { 'content-type': 'application/json', 'keep-alive': 'timeout=3600' };
    response.writeHead(isRefused ? 401 : 200, headers).end('{}');
  };
  const api = await listen('https', handler, { clientCertificates: 'any' });
  endings.push(api.close);
  const pair = JSON.stringify({
    clientCertificateData: testOnlyClientCert,
    clientKeyData: testOnlyClientKey,
  });
  const { exec } = plugin(printToken("'t-' + run", `, ...(run > 1 ? {} : ${pair})`));
  const cluster = { server: api.url, 'certificate-authority-data': base64(testOnlyCa) };
  const client = await open({ text: kubeconfig(cluster, { exec }) });
  await client.request(version);
  await client.request({ path: '/refused' });
  const left = () => [...sockets].filter(([socket]) => !socket.destroyed).map(([, sent]) => sent);
  await eventually(() => left().length === 1, 'the end of the first connection');
  expect(left()).toEqual(['Bearer t-2']);
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

it('T6: a closed client has no connection left, not even an idle one', async () => {
  const sockets = new Set<Socket>();
  const api = await listen('http', (request, response) => {
    sockets.add(request.socket);
    // Otherwise both sides would close an idle connection after a few seconds.
    response.writeHead(200, { 'content-type': 'application/json', 'keep-alive': 'timeout=3600' });
    response.end('{}');
  });
  endings.push(api.close);
  const client = await open({ text: kubeconfig({ server: api.url }) });
  await client.request(version);
  expect([...sockets].map(({ destroyed }) => destroyed)).toEqual([false]);
  await client.close();
  await eventually(() => [...sockets].every(({ destroyed }) => destroyed), 'the end of a socket');
});
