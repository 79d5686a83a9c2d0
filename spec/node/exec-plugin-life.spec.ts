/** The life of a credential plugin: its standard input, its end, and the answers that are refused. */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { clientFromKubeConfig, type KubeConfigClientOptions } from 'rx-informer/node';
import { describe, expect, it, vi } from 'vitest';
import { preparedPlugin } from '../../lib/node/exec-plugin.ts';
import { eventually } from '../support/patience.ts';
import { folder, open, prepareKubeconfigs, server } from './kubeconfig-rig.ts';
import { kubeconfig } from './kubeconfigs.ts';
import { expectClean } from './seen.ts';

prepareKubeconfigs();

const version = { path: '/version' };
const apiVersion = 'client.authentication.k8s.io/v1';
const answer = (token: string) =>
  JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token } });

/** Writes a plugin of this shell code. */
function script(code: string): string {
  const file = join(folder(), 'plugin');
  writeFileSync(file, `#!/bin/sh\n${code}\n`);
  chmodSync(file, 0o700);
  return file;
}

async function opened(code: string, options: KubeConfigClientOptions = {}, exec: object = {}) {
  const api = await server('http');
  const command = script(code);
  const user = { exec: { apiVersion, command, interactiveMode: 'Never', ...exec } };
  return { api, client: await open({ text: kubeconfig({ server: api.url }, user), ...options }) };
}

/** A plugin that writes its id and that of its child, and hangs. */
const HANGS = 'sleep 987 & echo $$ $! >> "$0.pids"; wait';
const started = (): number[] => {
  const file = join(folder(), 'plugin.pids');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split(/\s+/).map(Number) : [];
};
const isRunning = (pid: number) => {
  try {
    process.kill(pid, 0);
    // A process that has ended and whose parent has not noticed it is not running.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};
const running = () => started().filter(isRunning);

describe('the end of a plugin that hangs', () => {
  it('T24: close() ends the plugin and what it has started', async () => {
    const { client } = await opened(HANGS);
    const failed = client.request(version).catch((error) => error);
    await eventually(() => started().length === 2, 'the plugin');
    await client.close();
    expect(expectClean(await failed, 'Stopped', []).message).toContain('closed');
    await eventually(() => running().length === 0, 'its end');
  });

  it('T24: a plugin is ended when no request waits for it, and not before', async () => {
    const { client } = await opened(HANGS);
    const [one, two] = [new AbortController(), new AbortController()];
    const failed = [one, two].map(({ signal }) =>
      client.request({ ...version, signal }).catch(({ reason }) => reason),
    );
    await eventually(() => started().length === 2, 'the plugin');
    one.abort();
    await failed[0];
    // A plugin that was ended would be gone when another process has run.
    await promisify(execFile)('true');
    expect(running()).toHaveLength(2);
    two.abort();
    await eventually(() => running().length === 0, 'its end');
    expect(await Promise.all(failed)).toEqual(['Aborted', 'Aborted']);
    // The next request runs the plugin again.
    const third = new AbortController();
    const last = client.request({ ...version, signal: third.signal }).catch(() => {});
    await eventually(() => started().length === 4, 'another run');
    third.abort();
    await last;
    await eventually(() => running().length === 0, 'its end');
  });

  it('T24: a plugin is ended after execTimeoutMs, and its requests fail', async () => {
    const { client } = await opened(HANGS, { execTimeoutMs: 400 });
    const requests = [1, 2, 3].map(() => client.request(version).catch((reason) => reason));
    for (const error of await Promise.all(requests)) {
      const { message, retryable } = expectClean(error, 'Credentials', []);
      expect(message).toContain('no credentials were returned within 0.4 s');
      expect(retryable).toBe(true);
    }
    // On a busy machine it is ended before it has written its id.
    expect(started().length).toBeLessThanOrEqual(2);
    await eventually(() => running().length === 0, 'its end');
  });

  it('T24: a plugin that ignores the signal is killed', async () => {
    const { client } = await opened(
      'trap "" TERM; echo $$ >> "$0.pids"; while :; do sleep 0.1; done',
    );
    const failed = client.request(version).catch(() => {});
    await eventually(() => started().length === 1, 'the plugin');
    await client.close();
    await failed;
    await eventually(() => running().length === 0, 'its end');
  });

  it('T24: what a plugin has started is killed if it ignores the signal and the plugin does not', async () => {
    const stubborn = `sh -c 'trap "" TERM; echo $$ >> "$0"; while :; do sleep 0.1; done' "$0.pids"`;
    const { client } = await opened(`${stubborn} & wait`);
    const failed = client.request(version).catch(() => {});
    await eventually(() => started().length === 1, 'the plugin');
    await client.close();
    await failed;
    await eventually(() => running().length === 0, 'its end');
  });

  it('T24: the end of a plugin that nobody waits for does not cost another run of the next one', async () => {
    // The first run hangs, and the second one lasts until this process has noticed the end of the first.
    const first = 'first=$(head -n 1 "$0.pids"); [ $first != $$ ] || { sleep 987 & wait; }';
    const rest = `while kill -0 $first; do sleep 0.01; done; echo '${answer('good')}'`;
    const code = `echo $$ >> "$0.pids"; ${first}; ${rest}`;
    const { client } = await opened(code);
    const left = new AbortController();
    const failed = client.request({ ...version, signal: left.signal }).catch(() => {});
    await eventually(() => started().length === 1, 'the plugin');
    left.abort();
    const next = client.request(version);
    await failed;
    await next;
    await client.request(version);
    expect(started()).toHaveLength(2);
  });

  it('T24: a plugin that prints without end is ended, and its output is not kept', async () => {
    const { client } = await opened('echo $$ >> "$0.pids"; exec yes hunter2');
    const error = await client.request(version).catch((reason) => reason);
    expect(expectClean(error, 'Credentials', ['hunter2']).message).toContain('more than 1 MiB');
    await eventually(() => running().length === 0, 'its end');
  });
});

describe('the standard input of a plugin', () => {
  it.each(['Never', 'IfAvailable', undefined])(
    'T14: without a terminal the input of a plugin ends immediately (interactiveMode: %s)',
    async (interactiveMode) => {
      const code = `read code; echo '${answer('good')}'`;
      const { client } = await opened(code, {}, { interactiveMode });
      expect(await client.request(version)).toEqual({ authorization: 'Bearer good' });
    },
  );

  it.each([
    ['Never', true, false],
    ['IfAvailable', true, true],
    ['IfAvailable', false, false],
    ['Always', true, true],
    [undefined, true, true],
  ])(
    'T14: interactiveMode %s with a terminal: %s',
    async (interactiveMode, terminal, interactive) => {
      const user = { name: 'dev', exec: { apiVersion, command: 'login', interactiveMode } };
      const cluster = { name: 'dev', server: 'https://api.test', skipTLSVerify: false };
      const prepared = await preparedPlugin(user, cluster, terminal);
      expect(prepared?.interactive).toBe(interactive);
      expect(JSON.parse(prepared?.env.KUBERNETES_EXEC_INFO ?? '').spec).toEqual({ interactive });
    },
  );

  it.each([
    [{ interactiveMode: 'always' }, "has the interactiveMode 'always'"],
    [{ apiVersion: 'client.authentication.k8s.io/v1alpha1' }, 'has the apiVersion'],
    [{ apiVersion: undefined }, 'has no apiVersion'],
    [{ command: '' }, 'has no command'],
  ])('T14: %j is refused', async (exec, what) => {
    const user = { exec: { apiVersion, command: 'login', ...exec } };
    const text = kubeconfig({ server: 'https://127.0.0.1:1' }, user);
    const error = await clientFromKubeConfig({ text }).catch((reason) => reason);
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain("of user 'dev' ");
    expect(error.message).toContain(what);
  });
});

describe('the answer of a plugin', () => {
  const status = { token: 'hunter2' };
  const pair = { clientCertificateData: 'hunter2' };
  it.each([
    [
      { kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1beta1', status },
      apiVersion,
    ],
    [{ kind: 'Pod', apiVersion, status }, apiVersion],
    [{ apiVersion, status }, apiVersion],
    [{ kind: 'ExecCredential', status }, apiVersion],
    [{ kind: 'ExecCredential', apiVersion }, apiVersion],
    [{ kind: 'ExecCredential', apiVersion, status: { token: ['hunter2'] } }, 'neither a token'],
    [{ kind: 'ExecCredential', apiVersion, status: { ...status, ...pair } }, 'without'],
    [
      { kind: 'ExecCredential', apiVersion, status: { ...status, expirationTimestamp: 'hunter2' } },
      'ExecCredential',
    ],
  ])('T14: %j is refused, and nothing is sent', async (object, what) => {
    const { api, client } = await opened(`echo '${JSON.stringify(object)}'`);
    const error = await client.request(version).catch((reason) => reason);
    expect(expectClean(error, 'Credentials', ['hunter2']).message).toContain(what);
    expect(api.seen).toHaveLength(0);
  });

  it('T14: the answer is used until it expires', async () => {
    const code = (expires: string) => {
      const status = `{"token":"t'$(wc -l < "$0.runs" | tr -d ' ')'","expirationTimestamp":"${expires}"}`;
      return `echo run >> "$0.runs"
        echo '{"apiVersion":"${apiVersion}","kind":"ExecCredential","status":${status}}'`;
    };
    const now = vi.spyOn(performance, 'now');
    let minutes = 0;
    const { client } = await opened(code('2999-01-01T00:00:00Z'));
    const aMinuteLater = () => {
      minutes++;
      now.mockReturnValue(minutes * 60_000);
      return client.request(version);
    };
    expect(await aMinuteLater()).toEqual({ authorization: 'Bearer t1' });
    expect(await aMinuteLater()).toEqual({ authorization: 'Bearer t1' });
    await client.close();
    const second = await opened(code('2020-01-01T00:00:00Z'));
    expect(await second.client.request(version)).toEqual({ authorization: 'Bearer t2' });
    now.mockReturnValue(minutes * 60_000 + 60_000);
    expect(await second.client.request(version)).toEqual({ authorization: 'Bearer t3' });
    now.mockRestore();
  });
});
