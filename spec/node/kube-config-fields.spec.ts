/** Kubeconfig fields: a field that kubectl obeys is either obeyed, or refused by name. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { clientFromKubeConfig, inspectKubeConfig } from 'rx-informer/node';
import { describe, expect, it } from 'vitest';
import { environmentProxy } from '../../lib/node/environment-proxy.ts';
import { preparedPlugin } from '../../lib/node/exec-plugin.ts';
import { endings, folder, open, prepareKubeconfigs, server } from './kubeconfig-rig.ts';
import { base64, kubeconfig } from './kubeconfigs.ts';
import CASES from './no-proxy.cases.json' with { type: 'json' };
import { opened } from './servers.ts';
import { testOnlyCa, testOnlyClientCert } from './test-only-certificates.ts';

prepareKubeconfigs();

const version = { path: '/version' };
const nowhere = { server: 'http://127.0.0.1:1' };
const refused = (user: object) => clientFromKubeConfig({ text: kubeconfig(nowhere, user) });

describe('impersonation', () => {
  const impersonated = (headers: object) =>
    Object.entries(headers).filter(([name]) => name.startsWith('impersonate-'));
  /** The header lines as they were received. */
  const lines = (raw: readonly string[]) =>
    raw.flatMap((name, at) =>
      at % 2 === 0 && /^impersonate-/i.test(name) ? [`${name.toLowerCase()}: ${raw[at + 1]}`] : [],
    );

  it.each(['http', 'http2'] as const)(
    'T15: all impersonation fields are sent to the server (%s)',
    async (protocol) => {
      const api = await server(protocol);
      const user = {
        token: 't',
        as: 'jürgen',
        'as-uid': 'u-1',
        'as-groups': ['dev team'],
        'as-user-extra': { 'acme.com/Project%': ['shop'] },
      };
      const cluster = { server: api.url, 'certificate-authority-data': base64(testOnlyCa) };
      await (await open({ text: kubeconfig(cluster, user) })).request(version);
      expect(Object.fromEntries(impersonated(api.seen[0]?.headers ?? {}))).toEqual({
        'impersonate-user': Buffer.from('jürgen').toString('latin1'),
        'impersonate-uid': 'u-1',
        'impersonate-group': 'dev team',
        'impersonate-extra-acme.com%2fproject%25': 'shop',
      });
    },
  );

  it.each(['http', 'https', 'http2'] as const)(
    'T15: each group is sent in a header line of its own, which undici supports over HTTP/1.1 only (%s)',
    async (protocol) => {
      const api = await server(protocol, undefined, { allowHttp1: true });
      const user = {
        as: 'me',
        'as-groups': ['a', 'b, c', 'd'],
        'as-user-extra': { scope: ['x', 'y'], one: ['z'], empty: ['e', ''] },
      };
      const cluster = { server: api.url, 'certificate-authority-data': base64(testOnlyCa) };
      const client = await open({ text: kubeconfig(cluster, user) });
      await Promise.all([client.request(version), client.request(version)]);
      for (const { httpVersion, rawHeaders } of api.seen) {
        expect(httpVersion).toBe('1.1');
        expect(lines(rawHeaders).sort()).toEqual([
          'impersonate-extra-empty: ',
          'impersonate-extra-empty: e',
          'impersonate-extra-one: z',
          'impersonate-extra-scope: x',
          'impersonate-extra-scope: y',
          'impersonate-group: a',
          'impersonate-group: b, c',
          'impersonate-group: d',
          'impersonate-user: me',
        ]);
      }
      expect(api.seen).toHaveLength(2);
    },
  );

  it('T15: a missing user name or an invalid value is refused with the name of the field', async () => {
    const named = (user: object, what: string) =>
      expect(refused(user)).rejects.toThrow(`clientFromKubeConfig: user 'dev' ${what}`);
    await named({ 'as-groups': ['a'] }, 'has as-groups, as-uid or as-user-extra without as');
    await named({ 'as-uid': 'u' }, 'has as-groups, as-uid or as-user-extra without as');
    for (const field of ['as', 'as-uid', 'as-groups', 'as-user-extra']) {
      const value = {
        as: 'x\0',
        'as-uid': 'x\r\ny: z',
        'as-groups': ['\n'],
        'as-user-extra': { a: ['\x1b'] },
      };
      const user = { as: 'me', [field]: value[field as keyof typeof value] };
      await named(user, `has a control character in ${field}`);
    }
    for (const [field, value, type] of [
      ['as', 5, 'a string'],
      ['as-uid', 5, 'a string'],
      ['as-groups', 'a', 'a list of strings'],
      ['as-user-extra', { a: 'b' }, 'a map of lists of strings'],
    ] as const) {
      await expect(refused({ as: 'me', [field]: value })).rejects.toThrow(
        `clientFromKubeConfig: the text is not a valid kubeconfig: users[0].user.${field} must be ${type}`,
      );
    }
  });
});

describe('a user', () => {
  it('T16: a password may be empty', async () => {
    const api = await server('http');
    for (const user of [{ username: 'joe' }, { username: 'joe', password: '' }]) {
      const client = await open({ text: kubeconfig({ server: api.url }, user) });
      expect(await client.request(version)).toEqual({ authorization: `Basic ${base64('joe:')}` });
    }
  });

  it('T16: two authentication methods at the same time are refused', async () => {
    const message = /user 'dev' has more than one kind of credentials: (.*); keep one/;
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'login' };
    const provider = { name: 'oidc', config: {} };
    await expect(refused({ token: 'hunter2', username: 'me' })).rejects.toThrow(message);
    await expect(refused({ exec, 'auth-provider': provider })).rejects.toThrow(message);
    await expect(refused({ exec, tokenFile: 'token' })).rejects.toThrow(': exec, tokenFile; keep');
    await expect(refused({ token: 'a', password: 'b' })).rejects.toThrow(': token, password; keep');
    await expect(refused({ tokenFile: 'a', username: 'b' })).rejects.toThrow(
      ': tokenFile, username; keep',
    );
    await expect(refused({ token: 'hunter2', username: 'me' })).rejects.not.toThrow(/hunter2/);
  });

  it('T16: a field of exec with a wrong type is refused by name, and null is absent', async () => {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'login' };
    const variables = 'a list of { name, value } with strings';
    for (const [field, value, type] of [
      ['command', ['login'], 'a string'],
      ['args', 'foo', 'a list of strings'],
      ['args', {}, 'a list of strings'],
      ['args', [5], 'a list of strings'],
      ['env', { A: 'b' }, variables],
      ['env', ['A=b'], variables],
      ['env', [{ name: 'A', value: 5 }], variables],
      ['provideClusterInfo', 'yes', 'true or false'],
      ['interactiveMode', 5, 'a string'],
    ] as const) {
      await expect(refused({ exec: { ...exec, [field]: value } })).rejects.toThrow(
        `clientFromKubeConfig: the text is not a valid kubeconfig: users[0].user.exec.${field} must be ${type}`,
      );
    }
    await expect(refused({ exec: 'login' })).rejects.toThrow('users[0].user.exec must be a map');
    for (const env of [[null], [{ value: 'b' }]]) {
      await expect(refused({ exec: { ...exec, env } })).rejects.toThrow(
        "the plugin 'login' of user 'dev' has an env entry without a name",
      );
    }
    const absent = { args: null, env: null, provideClusterInfo: null, installHint: null };
    const env = [{ name: 'A', value: null }];
    await open({ text: kubeconfig(nowhere, { exec: { ...exec, ...absent } }) });
    await open({ text: kubeconfig(nowhere, { exec: { ...exec, args: [null], env } }) });
    const plugin = await preparedPlugin(
      { name: 'dev', exec: { ...exec, args: [null, 'a'], env } },
      { name: 'c', server: '', skipTLSVerify: false },
      false,
    );
    expect([plugin?.args, plugin?.env['A']]).toEqual([['', 'a'], '']);
  });

  it('T16: a client certificate without its key is refused, so that no request is sent anonymously', async () => {
    const certificate = base64(testOnlyClientCert);
    for (const user of [
      { 'client-certificate-data': certificate },
      { 'client-certificate': '/a.crt' },
      { 'client-certificate-data': certificate, token: 'hunter2' },
    ]) {
      await expect(refused(user)).rejects.toThrow(
        "clientFromKubeConfig: user 'dev' has a client-certificate without its client-key",
      );
    }
  });

  it('T16: a token file takes precedence over a token, which replaces a file that is empty or missing', async () => {
    const api = await server('http');
    writeFileSync(join(folder(), 'token'), ' \t of-the-file\r\n');
    writeFileSync(join(folder(), 'empty'), ' \n');
    const file = join(folder(), 'config');
    for (const [tokenFile, sent] of [
      ['token', 'of-the-file'],
      ['empty', 'old'],
      ['missing', 'old'],
    ]) {
      writeFileSync(file, kubeconfig({ server: api.url }, { tokenFile, token: 'old' }));
      const client = await open({ file });
      expect(await client.request(version)).toEqual({ authorization: `Bearer ${sent}` });
    }
  });

  it('T16: no request is sent anonymously if the token file is empty or missing', async () => {
    const api = await server('http');
    writeFileSync(join(folder(), 'empty'), '\n');
    const file = join(folder(), 'config');
    for (const [tokenFile, why] of [
      ['empty', `the token file of user 'dev' is empty: ${join(folder(), 'empty')}`],
      ['missing', `ENOENT: ${join(folder(), 'missing')}`],
    ]) {
      writeFileSync(file, kubeconfig({ server: api.url }, { tokenFile }));
      await expect((await open({ file })).request(version)).rejects.toThrow(why);
    }
    expect(api.seen).toEqual([]);
  });

  it('T16: a key without a certificate is not read, and a field of client-node alone is not sent', async () => {
    const api = await server('http');
    writeFileSync(join(folder(), 'token'), 'hunter2');
    const user = { 'client-key': '/no/such/file', 'token-file': join(folder(), 'token') };
    const client = await open({ text: kubeconfig({ server: api.url }, user) });
    expect(await client.request(version)).toEqual({});
  });

  it('T16: a token is sent as UTF-8', async () => {
    const api = await server('http');
    const client = await open({ text: kubeconfig({ server: api.url }, { token: 'pä中' }) });
    await client.request(version);
    const bytes = Buffer.from(api.seen[0]?.headers.authorization ?? '', 'latin1');
    expect(bytes.toString('utf8')).toBe('Bearer pä中');
  });

  it('T16: an unknown auth-provider is refused, so that no request is sent anonymously', async () => {
    await expect(refused({ 'auth-provider': { name: 'openstack' } })).rejects.toThrow(
      "clientFromKubeConfig: user 'dev' has the auth-provider 'openstack', which is not supported",
    );
  });
});

describe('a cluster', () => {
  it('T16: a CA beside insecure-skip-tls-verify is refused, because the CA would be ignored', async () => {
    const api = await server('https');
    writeFileSync(join(folder(), 'ca.crt'), testOnlyCa);
    const file = join(folder(), 'config');
    for (const ca of [
      { 'certificate-authority-data': base64(testOnlyCa) },
      { 'certificate-authority': 'ca.crt' },
    ]) {
      const cluster = { server: api.url, 'insecure-skip-tls-verify': true, ...ca };
      writeFileSync(file, kubeconfig(cluster, { token: 'hunter2' }));
      const instance = new KubeConfig();
      instance.loadFromFile(file);
      for (const source of [{ file }, instance]) {
        await expect(clientFromKubeConfig(source)).rejects.toThrow(
          "clientFromKubeConfig: cluster 'dev' has a certificate-authority beside insecure-skip-tls-verify, which would ignore it; remove one of the two",
        );
      }
    }
    expect(api.connections).toBe(0);
    // A context that is not used is not checked.
    const other = JSON.parse(kubeconfig({ server: api.url, 'insecure-skip-tls-verify': true }));
    other.clusters.push({
      name: 'other',
      cluster: { ...other.clusters[0].cluster, 'certificate-authority-data': base64(testOnlyCa) },
    });
    expect(await (await open({ text: JSON.stringify(other) })).request(version)).toEqual({});
  });

  it('T16: inline data take precedence over files', async () => {
    const { url } = await server('https');
    const file = join(folder(), 'config');
    writeFileSync(join(folder(), 'old.crt'), 'no certificate');
    const cluster = {
      server: url,
      'certificate-authority': 'old.crt',
      'certificate-authority-data': base64(testOnlyCa),
    };
    writeFileSync(file, kubeconfig(cluster, { token: 't' }));
    expect(await (await open({ file })).request(version)).toMatchObject({
      authorization: 'Bearer t',
    });
  });
});

describe('the proxy of the environment', () => {
  const of = (url: string, NO_PROXY = '', more: NodeJS.ProcessEnv = {}) =>
    environmentProxy(url, { HTTPS_PROXY: 'http://p:1', HTTP_PROXY: 'q:2', NO_PROXY, ...more });

  it('T17: the proxy is that of the scheme, and variables in upper case take precedence', () => {
    expect(of('https://api.test')).toBe('http://p:1');
    expect(of('http://api.test')).toBe('http://q:2');
    expect(environmentProxy('https://a', { https_proxy: 'socks5://s' })).toBe('socks5://s');
    expect(environmentProxy('https://a', { https_proxy: 'x', HTTPS_PROXY: 'y' })).toBe('http://y');
    expect(environmentProxy('https://a', { HTTP_PROXY: 'x', ALL_PROXY: 'y' })).toBeUndefined();
    expect(environmentProxy('https://a', { HTTPS_PROXY: '' })).toBeUndefined();
    expect(environmentProxy('/no/url', { HTTPS_PROXY: 'x' })).toBeUndefined();
  });

  it('T17: HTTP_PROXY is refused in CGI, where the client of the program can set it', () => {
    const cgi = { REQUEST_METHOD: 'GET' };
    for (const url of ['http://api.test', 'http://localhost']) {
      expect(() => of(url, 'api.test', cgi)).toThrow(
        'clientFromKubeConfig: HTTP_PROXY is refused because REQUEST_METHOD is set (CGI)',
      );
    }
    expect(of('https://api.test', '', cgi)).toBe('http://p:1');
    expect(environmentProxy('http://api.test', cgi)).toBeUndefined();
    expect(of('http://api.test', '', { REQUEST_METHOD: '' })).toBe('http://q:2');
  });

  it.each(['https://localhost:6443', 'https://127.0.0.1', 'https://127.9.9.9', 'https://[::1]:1'])(
    'T17: a URL of this machine has no proxy: %s',
    (url) => {
      expect(of(url)).toBeUndefined();
    },
  );

  it.each([
    ['*', 'https://api.test', false],
    ['api.test', 'https://api.test', false],
    ['API.test', 'https://Api.Test', false],
    ['test', 'https://api.test', false],
    ['.test', 'https://api.test', false],
    ['*.test', 'https://api.test', false],
    ['.api.test', 'https://api.test', true],
    ['pi.test', 'https://api.test', true],
    ['other, ,api.test', 'https://api.test', false],
    ['api.test:6443', 'https://api.test:6443', false],
    ['api.test:6443', 'https://api.test', true],
    ['api.test:443', 'https://api.test', false],
    ['10.0.0.1', 'https://10.0.0.1:6443', false],
    ['10.0.0.1:1', 'https://10.0.0.1:6443', true],
    ['10.0.0.1:6443', 'https://10.0.0.1:6443', false],
    ['10.0.0.0/8', 'https://10.9.8.7', false],
    ['10.0.0.0/8', 'https://11.9.8.7', true],
    ['10.0.0.0/99', 'https://10.9.8.7', true],
    ['fd00::/8', 'https://[fd00:0::1]:6443', false],
    ['[fd00::1]:6443', 'https://[fd00:0::1]:6443', false],
    ['fd00::1', 'https://[fd00:0::1]:6443', false],
    ['0.0.0.1', 'https://10.0.0.1', true],
    [':6443', 'https://api.test:6443', true],
    ['\u0085api.test\u2003', 'https://api.test', false],
    ['\ufeff*', 'https://api.test', true],
    ['bücher.test', 'https://bücher.test', false],
    ['xn--bch\ter-kva.test', 'https://bücher.test', true],
    ['büch\ter.test', 'https://bücher.test', true],
  ])('T17: NO_PROXY=%s and %s', (noProxy, url, goes) => {
    expect(of(url, noProxy) !== undefined).toBe(goes);
    expect(of(url, '', { no_proxy: noProxy, NO_PROXY: undefined }) !== undefined).toBe(goes);
  });

  it.each(Object.entries(CASES.direct))(
    'T17: NO_PROXY=%s excludes the hosts that golang.org/x/net/http/httpproxy excludes',
    (noProxy, direct) => {
      const hosts = [...CASES.proxied, ...CASES.never];
      const excluded = hosts.filter((url) => of(url, noProxy) === undefined);
      expect(new Set(excluded)).toEqual(new Set([...direct, ...CASES.never]));
    },
  );

  it('T17: the proxy of the environment is used, unless the kubeconfig has a proxy-url', async () => {
    const urls: (string | undefined)[] = [];
    const proxies = await Promise.all(
      ['of the environment', 'of the file'].map(async (name) => {
        const proxy = await opened(
          createServer(({ url }, response) => {
            urls.push(`${name}: ${url}`);
            response.end();
          }),
          'http',
        );
        endings.push(proxy.close);
        return proxy.url;
      }),
    );
    process.env.HTTP_PROXY = proxies[0] ?? '';
    const cluster = { server: 'http://api.test' };
    await (await open({ text: kubeconfig(cluster) })).request(version);
    const named = { ...cluster, 'proxy-url': proxies[1] ?? '' };
    await (await open({ text: kubeconfig(named) })).request(version);
    process.env.NO_PROXY = 'api.test';
    await (await open({ text: kubeconfig(named) })).request(version);
    expect(urls).toEqual([
      'of the environment: http://api.test/version',
      'of the file: http://api.test/version',
      'of the file: http://api.test/version',
    ]);
  });

  it('T17: a proxy that cannot be used is refused with the name of its variable, without its password', async () => {
    process.env.HTTP_PROXY = 'ftp://me:hunter2@proxy';
    const client = clientFromKubeConfig({ text: kubeconfig({ server: 'http://api.test' }) });
    await expect(client).rejects.toThrow(/HTTP_PROXY .*its scheme is ftp:/);
    await expect(client).rejects.not.toThrow(/hunter2/);
  });
});

describe('an untrusted kubeconfig', () => {
  const data = { server: 'https://127.0.0.1:1', 'certificate-authority-data': base64(testOnlyCa) };
  const plugin = { apiVersion: 'client.authentication.k8s.io/v1', command: 'login' };
  const cases: [string, object, object][] = [
    ['exec', data, { exec: { ...plugin, interactiveMode: 'Never' } }],
    ['auth-provider', data, { 'auth-provider': { name: 'oidc', config: {} } }],
    ['auth-provider', data, { 'auth-provider': { name: 'gcp', config: { 'cmd-path': 'login' } } }],
    ['tokenFile', data, { tokenFile: '/etc/hostname' }],
    ['client-certificate', data, { 'client-certificate': '/c', 'client-key-data': base64('k') }],
    [
      'client-key',
      data,
      { 'client-certificate-data': base64(testOnlyClientCert), 'client-key': '/k' },
    ],
    ['certificate-authority', { server: data.server, 'certificate-authority': '/ca' }, {}],
    ['proxy-url', { ...data, 'proxy-url': 'http://127.0.0.1:2' }, {}],
  ];

  it.each(cases)('T79: with %s is refused by that name (%#)', async (name, cluster, user) => {
    const text = kubeconfig(cluster, user);
    const asConfig = new KubeConfig();
    asConfig.loadFromString(text);
    // client-node drops the field tokenFile.
    const sources = name === 'tokenFile' ? [{ text }] : [{ text }, { config: asConfig }];
    for (const source of sources) {
      await expect(clientFromKubeConfig({ ...source, untrusted: true })).rejects.toThrow(
        `clientFromKubeConfig: the kubeconfig is untrusted, and user 'dev' or cluster 'dev' has ${name}; only`,
      );
      await expect(inspectKubeConfig({ ...source, untrusted: true })()).rejects.toThrow(
        /untrusted/,
      );
    }
  });

  it.each(['http', 'https'])(
    'an address with a password is refused over %s, and not shown',
    async (scheme) => {
      const text = kubeconfig({ server: `${scheme}://admin:hunter2@127.0.0.1:8001` });
      for (const made of [() => clientFromKubeConfig({ text }), inspectKubeConfig({ text })]) {
        const error = await made().then(
          () => new Error('nothing'),
          (refused: Error) => refused,
        );
        expect(error.message).toMatch(/contains a user or password; send them in headers$/);
        expect(error.message).not.toContain('hunter2');
      }
    },
  );

  it.each(['true', 'false', 1, null])('T79: a setting of %j is refused', async (untrusted) => {
    const text = kubeconfig(data, { exec: { ...plugin, interactiveMode: 'Never' } });
    for (const made of [clientFromKubeConfig, inspectKubeConfig]) {
      const refused = made({ text, untrusted: untrusted as never });
      await expect(refused).rejects.toThrow(/untrusted is .*; it must be true or false/);
    }
  });

  it('T79: with data only reaches its server, and other contexts may name anything', async () => {
    const api = await server('https');
    const cluster = { server: api.url, 'certificate-authority-data': base64(testOnlyCa) };
    const own = JSON.parse(kubeconfig(cluster, { token: 't' }));
    own.users.push({ name: 'other', user: { exec: { ...plugin, interactiveMode: 'Never' } } });
    const text = JSON.stringify(own);
    await (await open({ text, untrusted: true })).request(version);
    expect(api.seen[0]?.headers['authorization']).toBe('Bearer t');
  });
});
