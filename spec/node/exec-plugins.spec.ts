/** Credential plugins: the folder they run from, the information they receive, and the plugins that are refused. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { clientFromKubeConfig } from 'rx-informer/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { folder, open, prepareKubeconfigs, server } from './kubeconfig-rig.ts';
import { base64, kubeconfig } from './kubeconfigs.ts';
import { expectClean } from './seen.ts';
import { testOnlyCa } from './test-only-certificates.ts';

prepareKubeconfigs();

const version = { path: '/version' };
const apiVersion = 'client.authentication.k8s.io/v1';
const from = process.cwd();
beforeEach(() => process.chdir(folder()));
afterEach(() => process.chdir(from));

/**
 * Writes a plugin that prints this token (`$0` is its own path), and writes the information that it received to a
 * file beside it.
 */
function plugin(file: string, token: string): void {
  const path = join(folder(), file);
  mkdirSync(dirname(path), { recursive: true });
  const answer = JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token } });
  writeFileSync(
    path,
    `#!/bin/sh\nprintf '%s' "$KUBERNETES_EXEC_INFO" > "$0.info"\necho '${answer}'\n`,
  );
  chmodSync(path, 0o700);
}

/** Writes a kubeconfig of one user with this plugin. */
function config(file: string, url: string, exec: object, name = 'dev'): string {
  const path = join(folder(), file);
  mkdirSync(dirname(path), { recursive: true });
  const text = kubeconfig({ server: url }, { exec: { apiVersion, ...exec } });
  writeFileSync(path, text.replaceAll('"dev"', JSON.stringify(name)));
  return path;
}

describe('an exec plugin', () => {
  it('T13: a relative command is resolved against the folder of the kubeconfig, not the working directory', async () => {
    const { url } = await server('http');
    plugin('home/bin/login', 'good');
    plugin('bin/login', 'evil');
    for (const command of ['./bin/login', 'bin/login', '../home/bin/login']) {
      const file = config('home/config', url, { command });
      expect(await (await open({ file })).request(version)).toEqual({
        authorization: 'Bearer good',
      });
    }
    // The same holds if the path of the kubeconfig is relative to the working directory.
    config('home/config', url, { command: './bin/login' });
    const client = await open({ file: 'home/config' });
    mkdirSync(join(folder(), 'other'));
    process.chdir('other');
    expect(await client.request(version)).toEqual({ authorization: 'Bearer good' });
  });

  it('T13: with several kubeconfigs the folder of the command’s own file counts', async () => {
    const { url } = await server('http');
    const files = ['a', 'b'].map((name) => {
      plugin(`${name}/login`, name);
      return config(`${name}/config`, url, { command: './login' }, name);
    });
    plugin('login', 'evil');
    process.env.KUBECONFIG = files.join(':');
    for (const context of ['a', 'b']) {
      const client = await open({ context });
      expect(await client.request(version)).toEqual({ authorization: `Bearer ${context}` });
    }
  });

  it('T13: a command without a separator is looked up in PATH', async () => {
    const { url } = await server('http');
    plugin('home/login-e', 'evil');
    plugin('login-e', 'evil');
    plugin('path/login-e', 'good');
    const { PATH } = process.env;
    process.env.PATH = `${join(folder(), 'path')}:${PATH}`;
    const file = config('home/config', url, { command: 'login-e' });
    const answer = await (await open({ file })).request(version);
    process.env.PATH = PATH;
    expect(answer).toEqual({ authorization: 'Bearer good' });
  });

  it.each(['', '.', './bin', 'bin'])(
    'T13: an entry %j of PATH does not lead to the working directory',
    async (entry) => {
      const { url } = await server('http');
      // The working directory of the tests.
      plugin('login-w', 'evil');
      plugin('bin/login-w', 'evil');
      const file = config('home/config', url, { command: 'login-w' });
      const client = await open({ file });
      const { PATH } = process.env;
      const cwd = process.cwd;
      process.env.PATH = `${entry}:${PATH}`;
      process.chdir(folder());
      try {
        await expect(client.request(version)).rejects.toThrow(/'login-w' .* failed \(ENOENT\)/);
      } finally {
        process.chdir(cwd());
        process.env.PATH = PATH;
      }
    },
  );

  it('T13: a relative command is refused if the folder is not known', async () => {
    plugin('login', 'evil');
    const text = kubeconfig(
      { server: 'http://127.0.0.1:1' },
      { exec: { apiVersion, command: './login' } },
    );
    const instance = new KubeConfig();
    instance.loadFromString(text);
    for (const source of [{ text }, { config: instance }, instance]) {
      await expect(clientFromKubeConfig(source)).rejects.toThrow(
        /^clientFromKubeConfig: the command '.\/login' of user 'dev' is a relative path, .* give an absolute path, a name in PATH, or the option file/,
      );
    }
    // Only the command of the chosen user is checked.
    const other = JSON.parse(text);
    other.contexts.push({ name: 'other', context: { cluster: 'dev' } });
    await open({ text: JSON.stringify(other), context: 'other' });
  });

  it('T13: the command of an auth-provider is treated in the same way', async () => {
    const provider = { name: 'gcp', config: { 'cmd-path': './login', 'cmd-args': 'x' } };
    const text = kubeconfig({ server: 'http://127.0.0.1:1' }, { 'auth-provider': provider });
    await expect(clientFromKubeConfig({ text })).rejects.toThrow("the command './login'");
  });

  it('T14: a plugin receives its API version, that no user is present, and the cluster if it requests it', async () => {
    const { url } = await server('https');
    plugin('home/login', 'good');
    const path = join(folder(), 'home/config');
    const cluster = {
      server: url,
      'certificate-authority': 'ca.crt',
      'tls-server-name': 'api.test',
      extensions: [
        { name: 'other', extension: { no: true } },
        { name: 'client.authentication.k8s.io/exec', extension: { audience: 'shop' } },
      ],
    };
    writeFileSync(join(folder(), 'home/ca.crt'), testOnlyCa);
    const received = async (exec: object) => {
      const env = [{ name: 'KUBERNETES_EXEC_INFO', value: 'of the file' }];
      writeFileSync(
        path,
        kubeconfig(cluster, { exec: { apiVersion, command: './login', env, ...exec } }),
      );
      await (await open({ file: path })).request(version);
      const { readFileSync } = await import('node:fs');
      return JSON.parse(readFileSync(join(folder(), 'home/login.info'), 'utf8'));
    };
    const info = { apiVersion, kind: 'ExecCredential' };
    expect(await received({})).toEqual({ ...info, spec: { interactive: false } });
    expect(await received({ provideClusterInfo: true, interactiveMode: 'IfAvailable' })).toEqual({
      ...info,
      spec: {
        interactive: false,
        cluster: {
          server: url,
          'tls-server-name': 'api.test',
          'certificate-authority-data': base64(testOnlyCa),
          config: { audience: 'shop' },
        },
      },
    });
  });

  it('T14: a plugin that needs a terminal is refused with its name', async () => {
    const exec = { apiVersion, command: 'login', interactiveMode: 'Always' };
    const text = kubeconfig({ server: 'http://127.0.0.1:1' }, { exec });
    await expect(clientFromKubeConfig({ text })).rejects.toThrow(
      "clientFromKubeConfig: the plugin 'login' of user 'dev' needs a terminal (interactiveMode: Always)",
    );
  });

  it.each([
    ['does not exist', 'no-such-plugin', [], 'failed (ENOENT)'],
    ['fails', 'sh', ['-c', 'echo hunter2 >&2; exit 3'], 'failed'],
    ['prints invalid JSON', 'echo', ['hunter2'], 'failed'],
    ['prints no credentials', 'echo', ['{"status":{}}'], 'returned neither a token nor'],
    ['is below a file', `${process.execPath}/login`, [], 'failed (ENOTDIR)'],
    ['has a NUL in its arguments', 'login', ['hunter2\0'], 'failed (ERR_INVALID_ARG_VALUE)'],
    ['has too long arguments', 'echo', ['hunter2'.repeat(400_000)], 'failed (E2BIG)'],
  ])('T24: a plugin that %s is reported with its installHint', async (_, command, args, what) => {
    const exec = { apiVersion, command, args, installHint: 'brew install login' };
    const client = await open({ text: kubeconfig({ server: 'http://127.0.0.1:1' }, { exec }) });
    const error = await client.request(version).catch((reason) => reason);
    const { message } = expectClean(error, 'Credentials', ['hunter2']);
    expect(message).toContain(`the credential plugin '${command}' of user 'dev' ${what}`);
    expect(message).toContain('; try the same with kubectl. Its installHint: brew install login');
  });

  it('T14: a plugin that returns neither a token nor a certificate causes an error, and nothing is sent anonymously', async () => {
    const api = await server('http');
    plugin('login', '');
    const file = config('config', api.url, { command: './login' });
    const error = await (await open({ file })).request(version).catch((reason) => reason);
    expect(expectClean(error, 'Credentials', []).message).toContain(
      'returned neither a token nor a certificate with its key',
    );
    expect(api.seen).toHaveLength(0);
  });
});
