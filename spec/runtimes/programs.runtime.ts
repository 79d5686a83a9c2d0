/** Programs over the packed library in Bun and Deno, and in Node for comparison: each ends by itself, and tells what it has seen. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base64, kubeconfig } from '../node/kubeconfigs.ts';
import { listen, pour, type Request, type Response } from '../node/servers.ts';
import {
  testOnlyCa,
  testOnlyClientCert,
  testOnlyClientKey,
  testOnlyServerCert,
} from '../node/test-only-certificates.ts';
import { type GuardedCluster, guardedCluster } from '../packed/guarded-cluster.ts';
import { readmePrograms } from '../packed/programs.ts';
import { createProject, NAMES, type Project, type RuntimeName } from './runtimes.ts';

// The servers, plugins and texts around the programs of the runtimes.

/** Names a Pod of the tests. */
const place = (name: string): { namespace: string; name: string } => ({
  namespace: 'shop',
  name,
});

/** A server for programs, and its address. */
interface Control extends AsyncDisposable {
  readonly url: string;
}

/** A server whose paths change a cluster: `/stop`, `/heal`, `/create/NAME`, `/delete/NAME`. */
async function controlOf({ server, stop }: GuardedCluster): Promise<Control> {
  let heal = () => {};
  const control = createServer(({ url = '' }, response) => {
    const [, what, name = ''] = url.split('/');
    if (what === 'stop') heal = stop();
    if (what === 'heal') heal();
    if (what === 'create') server.objects.create(pods, { metadata: place(name) });
    if (what === 'delete') server.objects.delete(pods, place(name));
    response.end();
  });
  await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(control.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      control.closeAllConnections();
      control.close();
    },
  };
}

/** A plugin that prints credentials, as a script of the shell. */
function plugin(folder: string, status: object): object {
  const apiVersion = 'client.authentication.k8s.io/v1';
  const answer = JSON.stringify({ apiVersion, kind: 'ExecCredential', status });
  const command = join(folder, 'plugin.sh');
  writeFileSync(command, `#!/bin/sh\ncat <<'END'\n${answer}\nEND\n`, { mode: 0o700 });
  return { apiVersion, command };
}

/** Ends a response before its last line in the way that the path of a log names. */
function cutLog(path: string, response: Response): void {
  const how = /pods\/([\w-]+)\/log/.exec(path)?.[1] ?? '';
  response.write('half\n');
  setTimeout(() => {
    if (how === 'complete') response.end('whole\n');
    else if (!('stream' in response)) response.socket?.destroy();
    else if (how === 'lost') response.stream.session?.destroy();
    else response.stream.close(Number(how.slice('reset-'.length)));
  }, 50);
}

/** Lets a program print objects as JSON, because each runtime has a form of its own. */
function withJson(module: string): string {
  const asJson = `const print = console.log;
console.log = (...all: unknown[]) => print(...all.map((one) => typeof one === 'string' ? one : JSON.stringify(one)));
`;
  return asJson + module;
}

let project: Project;
beforeAll(async () => {
  project = await createProject();
});
afterAll(() => project?.[Symbol.dispose]());

/** The address and the CA of a cluster, for a kubeconfig. */
const trusted = ({ port }: GuardedCluster, ca = testOnlyCa) => ({
  server: `https://127.0.0.1:${port}`,
  'certificate-authority-data': base64(ca),
});

const CERTIFICATE = {
  'client-certificate-data': base64(testOnlyClientCert),
  'client-key-data': base64(testOnlyClientKey),
};

/** A new folder with a kubeconfig. */
function written(text: string): { readonly folder: string; readonly file: string } {
  const folder = mkdtempSync(join(project.folder, 'run-'));
  const file = join(folder, 'config');
  writeFileSync(file, text);
  return { folder, file };
}

/** Runs a program that must succeed, and returns what it tells. */
async function told(...args: Parameters<Project['start']>): Promise<unknown> {
  const { code, stdout, stderr } = await project.start(...args);
  expect(code, `${args[0]}, ${args[1]}: ${stdout}${stderr}`).toBe(0);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

const PAIR = { clientCertificateData: testOnlyClientCert, clientKeyData: testOnlyClientKey };

/** In Bun the library offers no HTTP/2. */
const spokenIn = (runtime: RuntimeName, protocol: string) =>
  runtime === 'Bun' ? 'http/1.1' : protocol;

const users = ({ allowed }: GuardedCluster) => [...new Set(allowed.map(({ user }) => user))];

const FOLLOWED = {
  log: ['added first', 'added made', 'updated made', 'deleted shop/made'],
  annotations: { app: 'käse' },
  keys: ['shop/first'],
};

describe.each(NAMES)('the packed library in %s', (runtime: RuntimeName) => {
  it.each([
    ['https', 'http/1.1'],
    ['http2', 'h2'],
  ] as const)(
    'T41: an informer and writes over %s, with a client certificate',
    async (protocol, spoken) => {
      await using cluster = await guardedCluster(protocol);
      cluster.server.objects.create(pods, { metadata: place('first') });
      const { file } = written(kubeconfig(trusted(cluster), CERTIFICATE));
      const seen = await told(runtime, 'informer', { settings: { file } });
      expect(seen).toEqual({ ...FOLLOWED, protocol: spokenIn(runtime, spoken) });
      expect(users(cluster)).toEqual(['certificate test-only client']);
      expect(cluster.refused).toBe(0);
    },
  );

  it('T41: an informer and writes over HTTP/2, with a token', async () => {
    await using cluster = await guardedCluster('http2');
    cluster.tokens.add('sesame');
    cluster.server.objects.create(pods, { metadata: place('first') });
    const { file } = written(kubeconfig(trusted(cluster), { token: 'sesame' }));
    const seen = await told(runtime, 'informer', { settings: { file } });
    expect(seen).toEqual({ ...FOLLOWED, protocol: spokenIn(runtime, 'h2') });
    expect(users(cluster)).toEqual(['token sesame']);
  });

  it.each([
    ['token', 'https', { token: 'sesame' }],
    ['certificate', 'https', PAIR],
    ['certificate', 'http2', PAIR],
  ] as const)(
    'T41: an informer and writes with the %s of a plugin, over %s',
    async (kind, protocol, status) => {
      await using cluster = await guardedCluster(protocol);
      cluster.tokens.add('sesame');
      cluster.server.objects.create(pods, { metadata: place('first') });
      const { folder, file } = written('');
      writeFileSync(file, kubeconfig(trusted(cluster), { exec: plugin(folder, status) }));
      const seen = await told(runtime, 'informer', { settings: { file }, allow: ['--allow-run'] });
      const spoken = protocol === 'https' ? 'http/1.1' : 'h2';
      expect(seen).toEqual({ ...FOLLOWED, protocol: spokenIn(runtime, spoken) });
      expect(users(cluster)).toEqual([
        kind === 'token' ? 'token sesame' : 'certificate test-only client',
      ]);
    },
  );

  it.each(['https', 'http2'] as const)(
    'T41: an informer over %s notices that the server is gone, and catches up when it is back',
    async (protocol) => {
      await using cluster = await guardedCluster(protocol);
      await using control = await controlOf(cluster);
      cluster.tokens.add('sesame');
      cluster.server.objects.create(pods, { metadata: place('first') });
      const { file } = written(kubeconfig(trusted(cluster), { token: 'sesame' }));
      const seen = await told(runtime, 'outage', { settings: { file, control: control.url } });
      expect(seen).toEqual({
        lost: 'Network',
        live: true,
        log: ['added first', expect.any(String), expect.any(String)],
      });
      const { log } = seen as { log: string[] };
      expect(log.slice(1).sort()).toEqual(['added later', 'deleted shop/first']);
    },
  );

  it('T41, T50: a server with a certificate of another CA receives nothing, and the error says why', async () => {
    await using cluster = await guardedCluster('https');
    cluster.tokens.add('sesame');
    // The certificate of a server, which has signed nothing.
    const { file } = written(kubeconfig(trusted(cluster, testOnlyServerCert), { token: 'sesame' }));
    expect(await told(runtime, 'failure', { settings: { file } })).toEqual({
      informer: 'Network',
      isKnown: true,
      reason: 'Network',
      message: expect.stringMatching(
        /^GET https:\/\/127.0.0.1:\d+\/version: the server's certificate is not signed by a trusted CA \(\w+\)/,
      ),
    });
    expect(cluster.allowed).toEqual([]);
  });

  it('T41: a refused token is a 401', async () => {
    await using cluster = await guardedCluster('http2');
    const { file } = written(kubeconfig(trusted(cluster), { token: 'wrong' }));
    expect(await told(runtime, 'failure', { settings: { file } })).toMatchObject({
      informer: 'Unauthorized',
      reason: 'Unauthorized',
    });
    expect(cluster.allowed).toEqual([]);
  });

  it.each(['https', 'http2'] as const)(
    'T18, T41: a log that is cut over %s ends with an error',
    async (protocol) => {
      const handler = ({ url = '' }: Request, response: Response) => cutLog(url, response);
      const { url, close } = await listen(protocol, handler, { allowHttp1: true });
      const cut = ['half', 'error Network'];
      try {
        expect(await told(runtime, 'cut', { settings: { url } })).toEqual({
          ...{ complete: ['half', 'whole'], lost: cut },
          ...{ 'reset-0': cut, 'reset-2': cut, 'reset-8': cut },
        });
      } finally {
        await close();
      }
    },
  );

  it.each(['https', 'http2'] as const)(
    'T1, T41: a body over %s is read as fast as the demand allows',
    async (protocol) => {
      let poured = { written: 0 };
      const total = 2 ** 28;
      const pouring = (_: Request, response: Response) => {
        poured = pour(response, total);
      };
      const { url, close } = await listen(protocol, pouring, { allowHttp1: true });
      const control = createServer((_, response) => response.end(String(poured.written)));
      await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve));
      try {
        const settings = {
          url,
          control: `http://127.0.0.1:${(control.address() as AddressInfo).port}`,
        };
        const seen = (await told(runtime, 'paused', { settings })) as {
          sent: number;
          read: number;
        };
        expect(seen.read).toBe(total);
        // Deno reads ahead of a consumer over TLS and HTTP/1.1, as docs/reference/versions.md says.
        if (runtime === 'Deno' && protocol === 'https') return;
        expect(seen.sent).toBeLessThan(2 ** 25);
      } finally {
        control.closeAllConnections();
        control.close();
        await close();
      }
    },
  );

  it('T41: a warm start has the objects of the files while the server is gone', async () => {
    await using cluster = await guardedCluster('http2');
    await using control = await controlOf(cluster);
    cluster.tokens.add('sesame');
    cluster.server.objects.create(pods, { metadata: place('first') });
    const { file, folder } = written(kubeconfig(trusted(cluster), { token: 'sesame' }));
    const settings = { file, folder, control: control.url };
    const allow = ['--allow-write', '--allow-sys'];
    expect(await told(runtime, 'warm', { settings, allow })).toEqual({
      keys: ['shop/first'],
      live: false,
    });
  });

  // Node has no `Worker` of the web platform.
  it.skipIf(runtime === 'Node')(
    'B1, T41: a worker answers queries, and the program ends',
    async () => {
      const server = createFakeApiServer();
      server.objects.create(pods, { metadata: place('first') });
      const { url, close } = await server.serve();
      const allow = ['--allow-write'];
      try {
        expect(await told(runtime, 'tab', { settings: { url }, allow })).toEqual({
          ...{ names: ['second'], synced: true, stale: false, phase: 'open' },
        });
      } finally {
        await close();
      }
    },
  );

  it('T41, V10: React renders a list on a server without a request', async () => {
    expect(await told(runtime, 'react')).toEqual({
      html: '<p>0 false</p>',
      requests: 0,
      worker: 'function',
    });
  });

  it('T41: the entry for NATS loads', async () => {
    expect(await told(runtime, 'nats')).toEqual({ types: ['function', 'function', 'function'] });
  });

  it('T41: import() and require() give one instance of each entry', async () => {
    const { same } = (await told(runtime, 'entries')) as { same: Record<string, boolean> };
    expect(Object.keys(same)).toHaveLength(8);
    expect(Object.entries(same).filter(([, isSame]) => !isSame)).toEqual([]);
  });

  it('T41, T52: a missing package is named with the command that installs it', async () => {
    const missing = (what: string, name: string) =>
      `${what} needs the package '${name}': npm install ${name}`;
    expect(await told(runtime, 'missing', { isBare: true })).toEqual({
      kubeconfig: missing('clientFromKubeConfig', 'undici'),
      request: expect.stringContaining(missing('createUndiciTransport', 'undici')),
      types: missing('the generation of types', 'json-schema-to-typescript'),
    });
  });

  it('T41: the command line prints what it prints in Node', async () => {
    const command = join('node_modules', 'rx-informer', 'dist', 'command', 'rx-informer.js');
    const { code, stdout, stderr } = await project.start(runtime, command);
    expect({ code, stdout: `${stdout}${stderr}` }).toEqual(await commandInNode());
  });
});

async function commandInNode() {
  const command = join('node_modules', 'rx-informer', 'dist', 'command', 'rx-informer.js');
  const { code, stdout, stderr } = await project.start('Node', command);
  expect(stdout + stderr).toContain('crd-types');
  return { code, stdout: `${stdout}${stderr}` };
}

describe.each(readmePrograms().filter(({ runs }) => runs))('$name', ({ name, module }) => {
  it.each(['Bun', 'Deno'] as const)('T41: prints in %s what it prints in Node', async (runtime) => {
    const file = join('programs', `${name}.ts`);
    writeFileSync(join(project.folder, file), withJson(module));
    const inNode = await project.start('Node', file);
    const { code, stdout, stderr } = await project.start(runtime, file);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(inNode.stdout);
    expect(inNode.code).toBe(0);
  });
});
