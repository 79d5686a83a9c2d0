/** Tests `npm start`: its command line, how its process starts and stops, and its message if it cannot start. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { readArguments, UsageError } from '../../examples/dashboard/arguments.ts';
import { eventually } from '../support/patience.ts';

const script = fileURLToPath(new URL('../../examples/dashboard/start.ts', import.meta.url));

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(
    process.execPath,
    ['--conditions=rx-informer-source', '--disable-warning=ExperimentalWarning', script, ...args],
    { env: { ...process.env, KUBECONFIG: '', HOME: tmpdir(), ...env } },
  );
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text;
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, said, ended };
}

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

async function kubeconfig(server: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'dashboard-'));
  folders.push(folder);
  const file = join(folder, 'config');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token: 'secret-token' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}

describe('a failed start gives its reason in one sentence', () => {
  test.each([
    [['--rate', 'fast'], 2, /--rate/],
    [['--embedded', '--kubeconfig', 'x'], 2, /--embedded/],
    [['--kubeconfig', '/does/not/exist'], 1, /\/does\/not\/exist/],
  ])('%j', async (args, code, about) => {
    const { said, ended } = start(args);
    expect(await ended).toBe(code);
    expect(said.err).toMatch(about);
    expect(said.err).toMatch(/^[^\n]+\n$/);
    expect(said.out).toBe('');
  });

  test('a requested cluster does not answer', async () => {
    const file = await kubeconfig('https://127.0.0.1:9');
    for (const args of [
      ['--kubeconfig', file],
      ['--kubeconfig', file, '--context', 'nowhere'],
    ]) {
      const { said, ended } = start(args);
      expect(await ended).toBe(1);
      expect(said.err).toMatch(/^The cluster cannot be used: [^\n]+\.\n$/);
      expect(said.err).not.toContain('secret-token');
    }
  });
});

describe('a start', () => {
  async function started(args: readonly string[], env?: Readonly<Record<string, string>>) {
    const dashboard = start(args, env);
    await eventually(() =>
      expect(dashboard.said.out).toMatch(/Dashboard: http:\/\/127\.0\.0\.1:\d+\/\n/),
    );
    return { ...dashboard, url: /Dashboard: (http:\S+)/.exec(dashboard.said.out)?.[1] ?? '' };
  }

  test('uses the embedded cluster if the cluster of the kubeconfig does not answer, and stops', async () => {
    const env = { KUBECONFIG: await kubeconfig('https://127.0.0.1:9') };
    const { child, said, ended, url } = await started(['--port', '0', '--objects', '30'], env);
    expect(said.out).toMatch(/embedded cluster, because [^\n]+\.\n/);
    const info = await (await fetch(`${url}dashboard/info?page=1`)).json();
    expect(info).toMatchObject({ cluster: 'embedded cluster', embedded: { rate: 20 } });
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(said.err).toBe('');
  });

  test('fails if a requested port is taken', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const { port } = blocker.address() as { port: number };
    const { said, ended } = start(['--embedded', '--objects', '5', '--port', String(port)]);
    expect(await ended).toBe(1);
    expect(said.err).toBe(`Port ${port} is taken; choose another with --port.\n`);
    blocker.close();
  });
});

test('without arguments, the defaults are the local cluster, or an embedded cluster of a thousand pods', () => {
  expect(readArguments([])).toMatchObject({
    open: false,
    embedded: false,
    objects: 1000,
    rate: 20,
  });
});

test('numeric options are parsed', () => {
  const argv = ['--embedded', '--objects', '10000', '--rate', '500', '--port', '0', '--seed', '7'];
  expect(readArguments(argv)).toMatchObject({
    embedded: true,
    objects: 10_000,
    rate: 500,
    port: 0,
    seed: 7,
  });
});

test('the embedded cluster has all faults by default, and --pods has two names', () => {
  expect(readArguments([])).toMatchObject({ fault: 'mix', explainFaults: false, objects: 1000 });
  const argv = ['--pods', '35000', '--fault', 'crash-loop', '--explain-faults'];
  expect(readArguments(argv)).toMatchObject({
    objects: 35_000,
    fault: 'crash-loop',
    explainFaults: true,
  });
});

test('the namespace to show, edits and stored objects of a real cluster are options', () => {
  expect(readArguments(['--namespace', 'shop', '--allow-edits', '--warm-start'])).toMatchObject({
    namespace: 'shop',
    allowEdits: true,
    warmStart: true,
  });
  expect(readArguments([])).toMatchObject({ allowEdits: false, warmStart: false });
  expect(readArguments([])).not.toHaveProperty('namespace');
});

test.each([
  [['--port', 'http'], /--port/],
  [['--port', '70000'], /--port/],
  [['--objects', '0'], /--objects/],
  [['--pods', '0'], /--pods/],
  [['--pods', '5', '--objects', '5'], /--objects/],
  [['--fault', 'dns'], /--fault/],
  [['--rate', '-5'], /--rate/],
  [['--nonsense'], /--nonsense/],
  [['extra'], /argument/],
  [['--embedded', '--context', 'kind'], /--embedded/],
  [['--kubeconfig'], /--kubeconfig/],
  [['--namespace', 'Shop/../secrets'], /--namespace/],
  [['--namespace', ''], /--namespace/],
])('%j is refused with one sentence', (argv, about) => {
  const refused = () => readArguments(argv);
  expect(refused).toThrow(UsageError);
  expect(refused).toThrow(about);
  expect(refused).not.toThrow(/\n/);
});
