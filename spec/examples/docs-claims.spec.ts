/** Tests sentences and samples of the guides that no example of theirs shows. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  createClient,
  createClusters,
  createListWatch,
  createSharedInformer,
  type DeliveryPolicy,
  deliver,
  type KubeClient,
} from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { type Pod, pods } from 'rx-informer/resources';
import { createFakeApiServer, seededRandom } from 'rx-informer/testing';
import { BehaviorSubject, of } from 'rxjs';
import { distinctUntilChanged, map } from 'rxjs/operators';
import { expect, onTestFinished, test } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { eventually } from '../support/patience.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const page = (name: string) => readFileSync(`${root}docs/${name}.md`, 'utf8');

/** An address at which nothing listens. */
async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

test('clusters.md: the sample of the status is what a refused connection gives', async () => {
  const fake = () => createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
  const url = await closedPort();
  const text = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: url } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
  const west = await clientFromKubeConfig({ text });
  const others = { east: fake(), north: fake() };
  const clients$ = new BehaviorSubject<Record<string, KubeClient>>(others);
  const clusters = createClusters(clients$);
  onTestFinished(async () => {
    await clusters.stop();
    await west.close();
  });
  const texts: string[] = [];
  clusters.status$.subscribe((status) => texts.push(status.text));
  clusters.informer(pods);
  clusters.start();
  await eventually(() => expect(texts).toContain('2 of 2 clusters live'));
  clients$.next({ ...others, west });
  const sample =
    /^```\n(\d of \d clusters live; .*)\n```$/m.exec(page('guide/clusters'))?.[1] ?? 'no sample';
  await eventually(() => expect(texts).toContain(sample.replace('https://west.example:6443', url)));
});

test('scaling.md: the requests of an hour are those that the fake server counts', async () => {
  const time = new VirtualTime();
  const server = createFakeApiServer({ scheduler: time });
  const options = { scheduler: time, random: seededRandom(5) };
  const client = () =>
    createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
  const informer = () => createSharedInformer(createListWatch(client(), pods, options), options);
  const hour = async (run: { start(): void; stop(): Promise<void> }[]) => {
    server.clearRequests();
    for (const each of run) each.start();
    await time.advance(3_600_000);
    const probes = server.requests.filter(
      ({ query }) => query.fieldSelector === 'metadata.name=rx-informer',
    ).length;
    for (const each of run) await each.stop();
    return [server.requests.length - probes, probes] as const;
  };
  const shared = informer();
  const subscribed = {
    start() {
      for (let at = 0; at < 100; at++) shared.changes$.subscribe();
    },
    stop: () => shared.stop(),
  };
  const [one, probes] = await hour([subscribed]);
  const [tabs] = await hour(Array.from({ length: 10 }, informer));
  const clusters = createClusters(of({ east: client(), west: client() }), options);
  clusters.informer(pods);
  const [two] = await hour([clusters]);
  const text = page('operations/scaling');
  expect(text).toContain(`| one informer with 100 subscribers | ${one} |`);
  expect(text).toContain(`| 10 tabs, or 10 replicas, each with an informer | ${tabs} |`);
  expect(text).toContain(`| one informer over 2 clusters | ${two} |`);
  expect(text).toContain('about 240 small pings an hour');
  expect(probes).toBeGreaterThan(220);
  expect(probes).toBeLessThan(260);
});

test.each(['conflate', 'buffer', 'drop'] as const)(
  'back-pressure.md: %s calls `ready` after each delivery of changes, and not after an empty first set',
  async (kind) => {
    const server = createFakeApiServer();
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const informer = createSharedInformer(createListWatch(client, pods));
    onTestFinished(() => informer.stop());
    const log: string[] = [];
    const ready = ({ changes }: { changes: readonly unknown[] }) => {
      log.push(`ready ${changes.length}`);
      return of(undefined);
    };
    const policy = { kind, limit: 5, overflow: 'conflate', ready } as DeliveryPolicy<Pod>;
    deliver(informer, policy).changes$.subscribe((set) => log.push(`set ${set.changes.length}`));
    await informer.whenSynced();
    const { metadata } = server.objects.create(pods, { metadata: { namespace: 'd', name: 'a' } });
    await informer.whenObserved('d/a', metadata.resourceVersion);
    expect(log).toEqual(['set 0', 'set 0', 'set 1', 'ready 1']);
  },
);

test('from-client-node.md: the snippet logs each error once, although each phase repeats it in the status', async () => {
  const snippet = 'informer.status$.pipe(map(({ error }) => error), distinctUntilChanged())';
  expect(page('guide/from-client-node')).toContain(snippet);
  const server = createFakeApiServer();
  for (const message of ['first', 'second']) {
    server.faults.failNext({ resource: pods }, { status: 503, message });
  }
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  const informer = createSharedInformer(createListWatch(client, pods), { random: () => 0 });
  onTestFinished(() => informer.stop());
  const repeated: string[] = [];
  informer.status$.subscribe(({ error }) => error && repeated.push(error.message));
  const logged: string[] = [];
  informer.status$
    .pipe(
      map(({ error }) => error),
      distinctUntilChanged(),
    )
    .subscribe((error) => {
      if (error !== undefined) logged.push(error.message);
    });
  informer.start();
  await informer.whenSynced();
  expect(logged).toEqual([expect.stringContaining('first'), expect.stringContaining('second')]);
  expect(repeated.length).toBeGreaterThan(2);
});

test('from-client-node.md: an error of a callback of client-node rejects start(), and later ends the process', async () => {
  const program = `
    import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
    import { pods } from 'rx-informer/resources';
    import { createFakeApiServer, seededRandom } from 'rx-informer/testing';
    const server = createFakeApiServer();
    const create = (name) => server.objects.create(pods, { metadata: { namespace: 'd', name } });
    const { url } = await server.serve({ port: 0 });
    const config = new KubeConfig();
    config.loadFromClusterAndUser({ name: 'c', server: url, skipTLSVerify: true }, { name: 'u' });
    const api = config.makeApiClient(CoreV1Api);
    const list = () => api.listNamespacedPod({ namespace: 'd' });
    const started = (bad) => {
      const informer = makeInformer(config, '/api/v1/namespaces/d/pods', list);
      informer.on('add', ({ metadata }) => { if (metadata.name === bad) throw new Error('thrown for ' + bad); });
      informer.on('error', () => {});
      return informer.start();
    };
    create('listed');
    await started('listed').catch((error) => console.log('rejected:', error.message));
    console.log('requests:', server.requests.length);
    await started('watched');
    create('watched');
    // The server keeps the process running.
  `;
  const flags = ['--input-type=module', '--conditions=rx-informer-source', '-e', program];
  const failure = await run(process.execPath, flags, { cwd: root }).catch(
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
  expect(failure.stdout).toBe('rejected: thrown for listed\nrequests: 1\n');
  expect(failure).toMatchObject({ code: 1 });
  expect(failure.stderr).toContain('thrown for watched');
});
