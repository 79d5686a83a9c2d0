/**
 * `rx-informer init controller` of the packed library: the project compiles, passes its own tests, and its program reconciles
 * an object where only the files of its Dockerfile are.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineResource, type KubernetesObject, resourcePath, type rolesFor } from 'rx-informer';
import { configMaps, eventsV1Events, leases } from 'rx-informer/resources';
import { createFakeApiServer, permittedBy } from 'rx-informer/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { testOnlyCa } from '../node/test-only-certificates.ts';
import { freePort } from '../support/free-port.ts';
import { eventually } from '../support/patience.ts';
import { podModule } from '../support/pod.ts';
import { mustRun, packInto, root, run } from './consumer.ts';
import { guardedCluster } from './guarded-cluster.ts';

const quiet = ['--no-audit', '--no-fund', '--prefer-offline'];
const definition = readFileSync(
  join(root, 'lib/command/templates/controller/manifests/1-crd.yaml'),
  'utf8',
);
let folder: string;
let tarball: string;
let project: string;

/**
 * Makes a project for a definition, with the command line that npx prints because packages are missing, and returns its folder.
 * The library is not taken from the registry.
 */
async function init(name: string, text: string): Promise<string> {
  writeFileSync(join(folder, `${name}.crd.yaml`), text);
  const npx = ['--yes', '--prefer-offline'];
  const args = ['rx-informer', 'init', 'controller', name, '--crd', `${name}.crd.yaml`];
  const { code, stderr } = await run('npx', [...npx, `--package=${tarball}`, ...args], folder);
  const [, line] = /needs the package 'yaml'\. Run: npx (.+)/.exec(stderr) ?? [];
  expect([code, line, stderr]).toEqual([1, expect.stringContaining('--package=yaml'), stderr]);
  await mustRun('sh', ['-c', `npx ${npx.join(' ')} ${line}`], folder);
  const path = join(folder, name, 'package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  expect(manifest.dependencies['rx-informer']).toMatch(/^\^\d/);
  // As the project's README says, the package file is in its folder, so that the image can be built from it.
  manifest.dependencies['rx-informer'] = `file:${basename(tarball)}`;
  cpSync(tarball, join(folder, name, basename(tarball)));
  writeFileSync(path, JSON.stringify(manifest));
  return join(folder, name);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rx-informer-init-'));
  tarball = join(folder, (await packInto(folder)).filename);
  project = await init('painter', definition.replaceAll('example.com', 'paint.test'));
  await mustRun('npm', ['install', ...quiet], project);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Carries out a Dockerfile in an empty folder. Returns the command of the container. */
async function imageOf(from: string, image: string): Promise<string[]> {
  mkdirSync(image);
  let command: string[] = [];
  for (const line of readFileSync(join(from, 'Dockerfile'), 'utf8').split('\n')) {
    const [, word = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (word === 'COPY') {
      const paths = rest.split(' ');
      const to = join(image, paths.pop() ?? '');
      const found = paths.flatMap((path) => globSync(path, { cwd: from }));
      expect(found).not.toEqual([]);
      // A folder is copied to the place, a file into it.
      for (const path of found) {
        const isFolder = !path.includes('.');
        cpSync(join(from, path), isFolder ? to : join(to, path), { recursive: true });
      }
    }
    if (word === 'RUN') await mustRun('sh', ['-c', `${rest} --prefer-offline`], image);
    if (word === 'CMD') command = JSON.parse(rest);
  }
  return command;
}

/** Writes the kubeconfig of a server, and returns its path. */
function kubeconfigOf(url: string): string {
  const kubeconfig = join(folder, 'kubeconfig');
  const config = {
    clusters: [{ name: 'c', cluster: { server: url } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(kubeconfig, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }));
  return kubeconfig;
}

describe('the project of rx-informer init controller', () => {
  it('N43: compiles, passes its tests, and prints the roles that it has', async () => {
    await mustRun('npm', ['run', 'check'], project);
    const { stdout } = await mustRun('npm', ['test'], project);
    expect(stdout).toMatch(/Tests +8 passed/);
  });

  it.each([
    ['roles', 'manifests/4-roles.yaml'],
    ['types', 'src/widgets.ts'],
  ])('N43: makes with npm run %s the file %s again', async (script, file) => {
    const path = join(project, file);
    const before = readFileSync(path, 'utf8');
    writeFileSync(path, '');
    await mustRun('npm', ['run', script], project);
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it('N43: its tests fail if the declared access lacks a call', async () => {
    const path = join(project, 'src/access.ts');
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace("'create', ", ''));
    try {
      await expect(mustRun('npm', ['test'], project)).rejects.toThrow(
        /cannot create resource \S+configmaps/,
      );
    } finally {
      writeFileSync(path, text);
    }
  });

  it('N43: its container has what it needs: the program becomes ready, reconciles an object with the printed roles, and ends', async () => {
    const widgets = defineResource<KubernetesObject>({
      ...{ group: 'paint.test', version: 'v1', plural: 'widgets' },
      ...{ kind: 'Widget', namespaced: true },
    });
    const documents = parseAllDocuments(
      readFileSync(join(project, 'manifests/4-roles.yaml'), 'utf8'),
    );
    const roles = (documents as { toJS(): ReturnType<typeof rolesFor>[0] }[]).map((it) =>
      it.toJS(),
    );
    const server = createFakeApiServer({
      resources: [configMaps, eventsV1Events, leases],
      allows: permittedBy(roles),
    });
    server.addResource(widgets, { custom: true });
    await using cluster = await guardedCluster('https', server);
    cluster.tokens.add('of-the-pod');
    const account = join(folder, 'account');
    mkdirSync(account);
    writeFileSync(join(account, 'token'), 'of-the-pod');
    writeFileSync(join(account, 'ca.crt'), testOnlyCa);
    const pod = join(folder, 'pod.mjs');
    writeFileSync(pod, podModule(account, cluster.port));
    const image = join(folder, 'image');
    const [command, ...args] = await imageOf(project, image);
    expect(command).toBe('node');
    // A pod has no kubeconfig, for which alone client-node is needed.
    expect(existsSync(join(image, 'node_modules/@kubernetes'))).toBe(false);
    const port = await freePort();
    const env = { ...process.env, PORT: String(port), NODE_OPTIONS: '' };
    const inPod = ['--import', pathToFileURL(pod).href, ...args];
    const child = spawn(process.execPath, inPod, { cwd: image, env });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        output += text;
      });
    }
    const ended = once(child, 'exit');
    try {
      const answered = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
      const probe = async (path: string) => (await answered(path)).status;
      await eventually(async () => expect(await probe('/readyz')).toBe(200));
      expect(await probe('/healthz')).toBe(200);
      expect(await probe('/')).toBe(503);
      const says = async () => (await answered('/readyz')).text();
      await eventually(async () => expect(await says()).toMatch(/^ok\npainter: running\n/));
      const place = { namespace: 'shop', name: 'first' };
      server.objects.create(widgets, { metadata: place });
      await eventually(() => {
        const { status } = server.objects.get(widgets, place) as {
          status?: { conditions?: { status: string }[] };
        };
        expect(status?.conditions?.[0]?.status).toBe('True');
      });
      expect(server.objects.get(configMaps, place)?.data).toEqual({ generation: '1' });
      child.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
      expect(output).not.toMatch(/forbidden|dropped|Warning/);
      expect(output).toMatch(/leader: \S+/);
      const path = resourcePath(leases, { namespace: 'painter', name: 'painter' });
      const lease = (await (await server.fetch(`http://fake${path}`)).json()) as {
        spec: { holderIdentity: string };
      };
      expect(lease.spec.holderIdentity).toBe('');
    } catch (error) {
      throw new Error(`${error}\n${output}`);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('N43: is built to JavaScript, which ends with an error before any request if its port is taken', async () => {
    await mustRun('npm', ['run', 'build'], project);
    const server = createFakeApiServer();
    const served = await server.serve();
    const taken = createServer().listen(0);
    await once(taken, 'listening');
    const port = String((taken.address() as { port: number }).port);
    const env = [`KUBECONFIG=${kubeconfigOf(served.url)}`, 'NODE_OPTIONS='];
    try {
      for (const program of ['dist/main.js', 'src/main.ts']) {
        for (const value of [port, '70000']) {
          const args = [...env, `PORT=${value}`, process.execPath, program];
          const { code, stdout, stderr } = await run('env', args, project);
          expect([code, stdout]).toEqual([1, '']);
          expect(stderr).toMatch(
            new RegExp(`^The probes cannot use port ${value}: set PORT to a free one\\. .+\\n$`),
          );
        }
      }
      expect(server.requests).toEqual([]);
    } finally {
      taken.close();
      await served.close();
    }
  });

  it('N43: compiles and passes its tests also for a cluster-scoped kind whose name the template uses', async () => {
    const taken = parse(definition);
    taken.metadata.name = 'leases.paint.test';
    const names = { kind: 'Controller', plural: 'leases' };
    Object.assign(taken.spec, { group: 'paint.test', scope: 'Cluster', names });
    const other = await init('other', stringify(taken));
    symlinkSync(join(project, 'node_modules'), join(other, 'node_modules'));
    await mustRun('npm', ['run', 'check'], other);
    const { stdout } = await mustRun('npm', ['test'], other);
    expect(stdout).toMatch(/Tests +8 passed/);
  });
});
