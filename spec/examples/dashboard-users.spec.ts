/** Tests `npm start -- --serve-users`: users of an embedded cluster sign in over real sockets, and each sees what its roles permit. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { createClient, type View } from 'rx-informer';
import { events, persistentVolumeClaims, pods } from 'rx-informer/resources';
import { connectServer } from 'rx-informer/server';
import { type WorkerCluster, workerQuery } from 'rx-informer/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readArguments } from '../../examples/dashboard/arguments.ts';
import { chooseCluster } from '../../examples/dashboard/choose-cluster.ts';
import {
  createEmbeddedCluster,
  type EmbeddedCluster,
} from '../../examples/dashboard/embedded-cluster.ts';
import type { ServedQueries } from '../../examples/dashboard/page/worker/served-queries.ts';
import { createClusterProxy } from '../../examples/dashboard/proxy.ts';
import { type DashboardServer, serveDashboard } from '../../examples/dashboard/server.ts';
import { type DashboardUsers, serveDashboardUsers } from '../../examples/dashboard/users/users.ts';
import { listen } from '../node/servers.ts';
import {
  testOnlyCa,
  testOnlyClientCert,
  testOnlyClientKey,
} from '../node/test-only-certificates.ts';
import { eventually } from '../support/patience.ts';

const TEAM = ['payments', 'shop'];
const EVERYTHING = { kind: 'pods', filter: '', namespace: '', tone: '', status: '' };

let embedded: EmbeddedCluster;
let users: DashboardUsers;
let server: DashboardServer;
let client: ReturnType<typeof createClient>;
const told: unknown[] = [];
const pages: WorkerCluster[] = [];

function tokenOf(name: string): string {
  const tokens = Object.entries(embedded.users?.tokens ?? {});
  return tokens.find(([, user]) => user.name === name)?.[0] ?? '';
}

const as = (name: string) => ({ authorization: `Bearer ${tokenOf(name)}` });
const ask = (path: string, init: RequestInit = {}) => fetch(new URL(path, server.url), init);

function page(name: string): WorkerCluster {
  const cluster = connectServer({
    ...{ url: `ws://127.0.0.1:${server.port}/queries`, identity: name },
    credentials: () => ({ token: tokenOf(name) }),
  });
  pages.push(cluster);
  return cluster;
}

const rows = (cluster: WorkerCluster, params: object) =>
  cluster.view<{ name: string; namespace: string }>(
    workerQuery<ServedQueries, 'tableRows'>('tableRows', {
      ...EVERYTHING,
      ...{ offset: 0, limit: 50 },
      ...params,
    }) as never,
  );
const counts = (cluster: WorkerCluster) =>
  cluster.view(workerQuery<ServedQueries, 'tableCounts'>('tableCounts', EVERYTHING));

const rowOf = (of: WorkerCluster, params: { kind: string; uid: string }) => {
  const view = of.view<{ why: string }>(
    workerQuery<ServedQueries, 'rowOf'>('rowOf', params) as never,
  );
  view.subscribe(() => undefined);
  return view;
};

/** Waits until a view is answered, and returns its snapshot. A busy machine may lose the connection, or use up its time, meanwhile. */
async function answered<R>(view: View<R>) {
  view.subscribe(() => undefined);
  await eventually(() => {
    const { synced, status } = view.getSnapshot();
    const { reason } = status.error ?? {};
    return synced || !(reason === undefined || /^(Network|TooManyRequests)$/.test(reason));
  }, 'an answer');
  return view.getSnapshot();
}

beforeAll(async () => {
  embedded = await createEmbeddedCluster({ objects: 300, rate: 0, seed: 1, serveUsers: true });
  const { baseUrl } = embedded;
  client = createClient({ baseUrl, qps: 0, headers: as('dashboard') });
  const anonymous = createClient({ baseUrl, qps: 0 });
  const report = (error: unknown) => told.push(error);
  users = await serveDashboardUsers({ client, anonymous, allowEdits: true, report });
  const proxy = createClusterProxy(anonymous, { asUsers: true });
  server = await serveDashboard({
    ...{ proxy, users, embedded, files: () => false, cluster: 'embedded', port: 0 },
  });
});
afterAll(async () => {
  for (const each of pages) each.close();
  await server.close();
  await users.close();
  await client.close();
  await embedded.close();
});

describe('the dashboard of several users', () => {
  it('answers windows and counts of what each user may read, and Forbidden for the rest', async () => {
    const [ann, bob] = [page('ann'), page('bob')];
    const own = embedded.list().filter(({ metadata }) => TEAM.includes(metadata?.namespace ?? ''));
    expect(own.length).toBeGreaterThan(50);
    const all = await answered(rows(ann, {}));
    expect([all.total, all.rows.length]).toEqual([embedded.list().length, 50]);
    const some = await answered(rows(bob, { offset: 25, limit: 10 }));
    const sorted = own.map(({ metadata }) => metadata?.name ?? '').sort();
    expect(some.rows.map(({ name }) => name)).toEqual(sorted.slice(25, 35));
    expect(some.total).toBe(own.length);
    const counted = (await answered(counts(bob))).rows.map(
      ({ of, key, count }) => [of, key, count] as const,
    );
    const spaces = counted.filter(([of]) => of === 'namespaces');
    expect(spaces.map(([, key]) => key)).toEqual(TEAM);
    expect(spaces.reduce((sum, [, , count]) => sum + count, 0)).toBe(own.length);
    expect(counted).toContainEqual(['all', 'all', own.length]);
    expect(counted).toContainEqual(['tones', 'good', expect.any(Number)]);
    const nodes = await answered(rows(bob, { kind: 'nodes' }));
    expect([nodes.rows.length, nodes.status.blocked]).toEqual([0, 'forbidden']);
    expect((await answered(rows(ann, { kind: 'nodes' }))).rows.length).toBeGreaterThan(0);
    // Their objects may be of kinds that the user may not read.
    const events = await answered(rows(bob, { kind: 'events' }));
    expect(events.rows.every(({ namespace }) => TEAM.includes(namespace))).toBe(true);
  });

  it('shows changes, and filters and sorts in the server', async () => {
    const bob = page('bob');
    const view = rows(bob, { filter: 'added-later', sort: { key: 'name', descending: true } });
    expect((await answered(view)).rows).toEqual([]);
    for (const name of ['added-later-1', 'added-later-2']) {
      embedded.server.objects.create(pods, { metadata: { namespace: 'shop', name } });
    }
    embedded.server.objects.create(pods, {
      metadata: { namespace: 'search', name: 'added-later-3' },
    });
    const names = () => view.getSnapshot().rows.map(({ name }) => name);
    await eventually(() => expect(names()).toEqual(['added-later-2', 'added-later-1']));
  });

  it('refuses what no page asks for', async () => {
    const bob = page('bob');
    const before = told.length;
    const hostile = [
      { kind: 'secrets' },
      { kind: 'other/v1/secrets' },
      { kind: 7 },
      { limit: 1e9 },
      { offset: -1 },
      { filter: 'x'.repeat(5_000) },
      { sort: { key: {} } },
    ];
    for (const params of hostile) {
      const { rows: shown, status } = await answered(rows(bob, params));
      expect([params, shown.length, status.error === undefined]).toEqual([params, 0, false]);
    }
    expect(told.length).toBeGreaterThan(before);
  });

  it('answers what is in trouble, each user for the own namespaces, with what other kinds say', async () => {
    const { objects } = embedded.server;
    const [ann, bob] = [page('ann'), page('bob')];
    const about = ['shop', 'search'].map((namespace) => {
      const name = 'waiting';
      const spec = { accessModes: ['ReadWriteOnce'] };
      const { metadata } = objects.create(persistentVolumeClaims, {
        ...{ metadata: { namespace, name }, spec, status: { phase: 'Pending' } },
      });
      const kind = 'PersistentVolumeClaim';
      objects.create(events, {
        metadata: { namespace, name: 'told' },
        involvedObject: { kind, namespace, name, uid: metadata.uid },
        ...{ type: 'Warning', reason: 'ProvisioningFailed', message: 'no such class' },
      });
      return metadata.uid;
    });
    type Row = { namespace: string; why: string };
    const troubles = (cluster: WorkerCluster, kind: string) =>
      cluster.view<Row>(workerQuery<ServedQueries, 'troubles'>('troubles', kind) as never);
    const [all, own] = [troubles(ann, 'claims'), troubles(bob, 'claims')];
    await Promise.all([answered(all), answered(own)]);
    const places = (view: View<Row>) => view.getSnapshot().rows.map(({ namespace }) => namespace);
    await eventually(() => expect(places(all).toSorted()).toEqual(['search', 'shop']));
    await eventually(() => expect(places(own)).toEqual(['shop']));
    expect((await answered(troubles(bob, 'nodes'))).status.blocked).toBe('forbidden');
    const of = { kind: 'claims', uid: about[0] ?? '' };
    const one = rowOf(bob, of);
    await eventually(() => expect(one.getSnapshot().rows[0]?.why).toBe('no such class'));
  });

  it('forwards requests with the token of the user alone, and none without', async () => {
    const path = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`;
    expect((await ask(path('shop'))).status).toBe(401);
    expect((await ask(path('shop'), { headers: as('bob') })).status).toBe(200);
    expect((await ask(path('search'), { headers: as('bob') })).status).toBe(403);
    expect((await ask(path('search'), { headers: as('ann') })).status).toBe(200);
    expect((await ask(path('shop'), { headers: { authorization: 'Bearer nobody' } })).status).toBe(
      401,
    );
    // Impersonation would be decided by the rights of whoever sends it.
    const more = { ...as('bob'), 'impersonate-user': 'ann' };
    expect((await ask(path('search'), { headers: more })).status).toBe(403);
  });

  it('sends no credentials of the kubeconfig with the requests of users', async () => {
    const seen: unknown[] = [];
    const real = await listen(
      'https',
      ({ headers, socket }, response) => {
        const certificate = (socket as TLSSocket).getPeerCertificate?.().subject?.CN;
        seen.push([headers.authorization, certificate]);
        response.setHeader('content-type', 'application/json');
        response.end('{}');
      },
      { clientCertificates: 'any' },
    );
    const data = (text: string) => Buffer.from(text).toString('base64');
    const folder = mkdtempSync(join(tmpdir(), 'rx-informer-users-'));
    const kubeconfig = join(folder, 'config');
    const cluster = { server: real.url, 'certificate-authority-data': data(testOnlyCa) };
    const own = {
      token: 'own',
      'client-certificate-data': data(testOnlyClientCert),
      'client-key-data': data(testOnlyClientKey),
    };
    const config = {
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'own', user: own }],
      contexts: [{ name: 'own', context: { cluster: 'c', user: 'own' } }],
      'current-context': 'own',
    };
    writeFileSync(kubeconfig, JSON.stringify(config));
    const choice = await chooseCluster(
      readArguments(['--kubeconfig', kubeconfig, '--serve-users']),
    );
    if (!('cluster' in choice)) throw new Error('the cluster of the kubeconfig was not chosen');
    const anonymous = await choice.cluster.anonymous();
    await anonymous.request({ path: '/api', headers: as('bob') });
    expect(seen).toEqual([
      ['Bearer own', expect.any(String)],
      [as('bob').authorization, undefined],
    ]);
    await anonymous.close();
    await choice.cluster.client.close();
    await real.close();
    rmSync(folder, { recursive: true });
  });

  it('names the user of a token, and nobody else', async () => {
    const user = await ask('/dashboard/user', { headers: as('ann') });
    expect(await user.json()).toEqual({ name: 'ann' });
    for (const headers of [{}, { authorization: 'Bearer x' }, { authorization: 'Basic x' }]) {
      expect((await ask('/dashboard/user', { headers })).status).toBe(401);
    }
  });

  it('gives no user control of the cluster of all, and no page of another origin a socket', async () => {
    const restart = JSON.stringify({ fault: 'restart' });
    const controlled = await ask('/embedded/control', {
      ...{ method: 'POST', body: restart },
      headers: {
        ...as('ann'),
        'content-type': 'application/json',
        origin: server.url.slice(0, -1),
      },
    });
    expect(controlled.status).toBe(405);
    expect((await ask('/embedded/truth?resourceVersion=1')).status).toBe(404);
    expect(await (await ask('/dashboard/info')).json()).toEqual({ cluster: 'embedded' });
    const upgrade = await fetch(new URL('/queries', server.url), {
      headers: { origin: 'https://evil.example' },
    });
    expect(upgrade.status).toBe(403);
  });
});
