/** `rx-informer publish`: its arguments, and packages and servers that are missing. spec/nats runs it with a server. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ApiError, type InformerStatus } from 'rx-informer';
import type { NatsPublisherStatus } from 'rx-informer/nats';
import { createFakeApiServer } from 'rx-informer/testing';
import { Subject } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runCommand } from '../../lib/command/command.ts';
import { publishArguments } from '../../lib/command/publish-arguments.ts';
import { reportPublisher } from '../../lib/command/publish-report.ts';
import { atFirst } from '../../lib/nats/publish/publisher-status.ts';
import { kubeconfig } from '../node/kubeconfigs.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const exec = promisify(execFile);
const server = createFakeApiServer();
let folder = '';
let config = '';
let close: () => Promise<void>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rx-informer-spec-'));
  const served = await server.serve({ port: 0 });
  close = () => served.close();
  config = join(folder, 'config');
  await writeFile(config, kubeconfig({ server: served.url }, { token: 't' }));
  for (const name of ['URL', 'CREDS', 'USER', 'PASSWORD', 'TOKEN'])
    vi.stubEnv(`NATS_${name}`, undefined);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await close();
  await rm(folder, { recursive: true });
});

async function publish(...args: readonly string[]) {
  let error = '';
  const code = await runCommand(['publish', ...args], {
    input: (async function* () {})(),
    out: () => undefined,
    error: (text) => {
      error += text;
    },
  });
  return { code, error };
}

/** A port on which nothing listens. */
const nowhere = 'nats://127.0.0.1:9';
const needs = ['--kind', 'pods', '--nats', nowhere];

describe('the arguments of publish', () => {
  it('J60: kinds are named as for kubectl, or by group and plural', () => {
    const given = ['--kind', 'pods, deployments.apps', '--kind', 'apps/v1/deployments,core/nodes'];
    const { kinds } = publishArguments([...given, '--nats', nowhere], {});
    expect(kinds).toEqual([
      'pods',
      'deployments.apps',
      { group: 'apps', version: 'v1', plural: 'deployments' },
      { group: '', plural: 'nodes' },
    ]);
  });

  it('J60: the servers and the credentials come from the environment if no option names them', () => {
    const environment = {
      NATS_URL: 'nats://a,nats://b',
      NATS_USER: 'me',
      NATS_PASSWORD: 'pw',
      NATS_CREDS: 'a.creds',
      NATS_TOKEN: 't',
    };
    const { nats } = publishArguments(['--kind', 'pods'], environment);
    expect(nats).toMatchObject({ servers: ['nats://a', 'nats://b'], user: 'me', password: 'pw' });
    expect(nats).toMatchObject({ credsFile: 'a.creds', token: 't' });
  });

  it('J60: an empty variable is not set, and addresses may stand apart', () => {
    const environment = {
      NATS_URL: 'nats://a, b:4222',
      NATS_USER: '',
      NATS_CREDS: '',
      NATS_TOKEN: '',
    };
    const { nats } = publishArguments(['--kind', 'pods'], environment);
    const { servers, user, credsFile, token } = nats;
    expect({ servers, user, credsFile, token }).toEqual({ servers: ['nats://a', 'b:4222'] });
  });

  it.each<[string, readonly string[], string]>([
    ['no kind', ['--nats', nowhere], 'publish needs --kind'],
    ['no server', ['--kind', 'pods'], 'publish needs --nats'],
    ['an empty kind', ['--kind', ',', '--nats', nowhere], 'publish needs --kind'],
    ['a kind with an empty part', ['--kind', 'apps/', '--nats', nowhere], '"apps/"'],
    ['another form', [...needs, '--as', 'table'], '--as is "table"'],
    ['a number that is none', [...needs, '--heartbeat', 'soon'], '--heartbeat is "soon"'],
    ['a Lease without a namespace', [...needs, '--lease', 'x'], '--lease is "x"'],
    ['a duration without a Lease', [...needs, '--lease-seconds', '4'], 'needs --lease'],
    ['a user without a password', [...needs, '--nats-user', 'me'], 'NATS_PASSWORD'],
    ['a certificate without its key', [...needs, '--nats-cert', 'x'], 'belong together'],
    ['another protocol', ['--kind', 'pods', '--nats', 'http://x'], 'must begin with nats://'],
    ['two transports', [...needs, '--nats', 'ws://x'], 'not both'],
    ['an unknown option', [...needs, '--nmae', 'x'], 'see rx-informer publish --help'],
    ['an argument without an option', [...needs, 'pods'], 'see rx-informer publish --help'],
    // An empty variable in a script must not publish all namespaces.
    ['an empty namespace', [...needs, '--namespace', ''], 'Leave the option out for all'],
    ['two namespaces', [...needs, '--namespace', 'shop,till'], '--namespace is "shop,till"'],
    ['an empty option', [...needs, '--context', ''], '--context is empty'],
    ['a bucket with a dot', [...needs, '--bucket', 'a.b'], '--bucket is "a.b"'],
    ['a part of a replica', [...needs, '--replicas', '1.5'], '--replicas is 1.5'],
    ['too short a heartbeat', [...needs, '--heartbeat', '0.0001'], 'at least 0.1'],
    ['too short a time', [...needs, '--compare-every', '0.5'], '--compare-every is "0.5"'],
    ['a Lease with an invalid name', [...needs, '--lease', 'a/B_b'], '--lease is "a/B_b"'],
    ['no address', ['--kind', 'pods', '--nats', 'nats://h:99999'], 'is not an address'],
  ])('J60: %s is refused with exit code 2', async (_title, args, words) => {
    const { code, error } = await publish(...args);
    expect(error).toContain(words);
    expect(code).toBe(2);
  });

  it('J60: an address with a password is refused, and the error does not quote it', async () => {
    const { code, error } = await publish('--kind', 'pods', '--nats', 'nats://me:hunter2@x');
    expect({ code, quotes: error.includes('hunter2') }).toEqual({ code: 2, quotes: false });
    expect(error).toContain('must not contain a user or a password');
  });
});

describe('publish with servers', () => {
  const own = () => [...needs, '--kubeconfig', config];

  it('J61: an unknown kind ends the command with similar names', async () => {
    const { code, error } = await publish('--kind', 'deploymets', ...own());
    expect(code).toBe(1);
    expect(error).toContain('did you mean deployments (apps/v1)?');
  });

  it('J61: a kind that is not in a namespace is refused with --namespace', async () => {
    const { code, error } = await publish('--kind', 'nodes', '--namespace', 'shop', ...own());
    expect(code).toBe(2);
    expect(error).toContain('nodes is cluster-scoped');
  });

  it.each([
    ['tls://', []],
    ['TLS://', []],
    ['nats://127.0.0.1:9,tls://', []],
    // The certificate of the server is to be checked, so there must be one.
    ['nats://', ['--nats-ca']],
  ])(
    'J65: with %s %j no credentials are sent to a server that offers no TLS',
    async (scheme, options) => {
      vi.stubEnv('NATS_PASSWORD', 'hunter2');
      let received = '';
      const server = createServer((socket) => {
        const info = {
          server_id: 'X',
          version: '2.12.0',
          proto: 1,
          headers: true,
          auth_required: true,
        };
        socket.write(`INFO ${JSON.stringify({ ...info, max_payload: 1_048_576, port: 4222 })}\r\n`);
        socket.on('error', () => undefined);
        socket.on('data', (data) => {
          received += String(data);
          socket.destroy();
        });
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const args = ['--kind', 'pods', '--nats-user', 'me', '--nats', `${scheme}127.0.0.1:${port}`];
      const files = options.flatMap((option) => [option, config]);
      const { code, error } = await publish(...args, ...files, '--kubeconfig', config);
      vi.stubEnv('NATS_PASSWORD', undefined);
      server.close();
      expect(received).toBe('');
      // Several servers are tried in random order, and the error is that of the last one.
      expect(error).toMatch(
        scheme.includes(',')
          ? /offers no TLS|connection refused/
          : /offers no TLS, so no credentials were sent/,
      );
      expect(code).toBe(1);
    },
  );

  it('J61: a NATS server that cannot be reached ends the command with its address', async () => {
    const { code, error } = await publish(...own());
    expect(code).toBe(1);
    expect(error).toContain(`cannot connect to NATS at ${nowhere}`);
    const elsewhere = await publish(...own(), '--context', 'nowhere');
    expect(elsewhere.error).toContain("no context 'nowhere'");
  });

  it('J61: credentials that cannot be read are named', async () => {
    const { code, error } = await publish(...own(), '--nats-creds', join(folder, 'none'));
    expect(code).toBe(1);
    expect(error).toMatch(/the NATS credentials .*none cannot be read \(ENOENT\)/);
  });
});

describe('the lines of publish', () => {
  it('J62: tell each failure, and each object that is not in the bucket, once', () => {
    const publisher$ = new Subject<NatsPublisherStatus>();
    const informer$ = new Subject<InformerStatus>();
    const lines: string[] = [];
    const reports = reportPublisher('pods', publisher$, informer$, (line) => lines.push(line));
    const said = (more: Partial<NatsPublisherStatus>) => {
      publisher$.next({ ...atFirst, phase: 'publishing', objects: 7, ...more });
      return lines.splice(0);
    };
    expect(said({ message: 'at 5' })).toEqual(['pods: publishing: 7 objects; at 5']);
    expect(said({ message: 'at 6' })).toEqual([]);
    const unwritable = [{ key: 'shop/deep', message: 'too deep' }];
    expect(said({ message: 'one is left out', unwritable })).toHaveLength(1);
    const tooLarge = [{ key: 'shop/big', bytes: 9 }];
    expect(said({ message: 'two are left out', unwritable, tooLarge })).toHaveLength(1);
    expect(said({ message: 'at 7', unwritable, tooLarge })).toEqual([]);
    const error = ApiError.local('Network', 'no server');
    expect(said({ phase: 'backoff', message: 'no server; again in 1 s', error })).toHaveLength(1);
    expect(said({ phase: 'backoff', message: 'no server; again in 2 s', error })).toEqual([]);
    for (const status of [{ error }, { error }, { live: true }, { live: true }]) {
      informer$.next({ live: false, ...status } as InformerStatus);
    }
    expect(lines.splice(0)).toEqual([
      'pods: the API server cannot be followed: no server',
      'pods: the API server is followed again',
    ]);
    reports.unsubscribe();
    expect(said({ phase: 'stopped', message: 'stopped' })).toEqual([]);
    expect([publisher$.observed, informer$.observed]).toEqual([false, false]);
  });
});

describe('publish without its packages', () => {
  /** Runs the executable as if a package was not installed. */
  async function without(missing: string, ...args: readonly string[]) {
    const hook = `import { registerHooks } from 'node:module';
      registerHooks({ resolve(name, context, next) {
        const [, found] = /^((?:@[^/]+\\/)?[^/]+)/.exec(name) ?? [];
        if (found !== ${JSON.stringify(missing)}) return next(name, context);
        const text = \`Cannot find package '\${found}' imported from \${context.parentURL}\`;
        throw Object.assign(new Error(text), { code: 'ERR_MODULE_NOT_FOUND' });
      } });`;
    const flags = ['--conditions=rx-informer-source', '--disable-warning=ExperimentalWarning'];
    const load = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`];
    const command = `${root}lib/command/rx-informer.ts`;
    return exec(process.execPath, [...flags, ...load, command, ...args]).then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      ({ code, stderr }: { code: number; stderr: string }) => ({ code, text: stderr }),
    );
  }

  it.each(['@nats-io/jetstream', '@nats-io/nats-core', '@nats-io/transport-node', 'undici'])(
    'J61: the error names the missing package %s',
    async (name) => {
      const { code, text } = await without(name, 'publish', ...needs, '--kubeconfig', config);
      expect(code).toBe(1);
      expect(text).toContain(`needs the package '${name}': npm install ${name}`);
    },
  );

  it('J61: other commands and the help need no package of NATS', async () => {
    const help = await without('@nats-io/nats-core', 'publish', '--help');
    expect(help.text).toContain('--lease <ns>/<name>');
    const file = `${root}spec/node/widgets.crd.yaml`;
    const types = await without('@nats-io/nats-core', 'crd-types', '--file', file);
    expect(types.text).toContain('export interface Widget');
  });
});
