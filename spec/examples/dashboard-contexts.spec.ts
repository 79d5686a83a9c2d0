/** Tests the choice of another context of the kubeconfig while a dashboard runs: who may choose, what runs, and what is forwarded. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pods, secrets } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Dashboard, startDashboard } from '../../examples/dashboard/dashboard.ts';

let folder: string;
let dashboard: Dashboard;
let servers: Record<'one' | 'two', FakeApiServer>;
const closing: (() => Promise<void>)[] = [];
/** The plugin of a context writes it. */
let marker: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dashboard-contexts-'));
  marker = join(folder, 'ran');
  const script = join(folder, 'plugin.mjs');
  await writeFile(
    script,
    `import { writeFileSync } from 'node:fs';
    writeFileSync(${JSON.stringify(marker)}, '');
    const apiVersion = 'client.authentication.k8s.io/v1';
    console.log(JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token: 'secret-token' } }));`,
  );
  servers = {
    one: createFakeApiServer(),
    two: createFakeApiServer({ resources: [pods, secrets] }),
  };
  const clusters = [{ name: 'three', cluster: { server: 'https://127.0.0.1:9' } }];
  for (const [name, server] of Object.entries(servers)) {
    const spec = { containers: [{ name: 'c', image: 'x:1' }] };
    server.objects.create(pods, { metadata: { name: `of-${name}`, namespace: 'shop' }, spec });
    const served = await server.serve();
    closing.push(served.close);
    clusters.push({ name, cluster: { server: served.url } });
  }
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    ...{ command: process.execPath, args: [script], interactiveMode: 'Never' },
  };
  const kubeconfig = join(folder, 'config');
  await writeFile(
    kubeconfig,
    JSON.stringify({
      clusters,
      users: [
        { name: 'u', user: {} },
        { name: 'three', user: { exec } },
      ],
      contexts: ['one', 'two', 'three'].map((cluster) => ({
        name: cluster,
        context: { cluster, user: cluster === 'three' ? 'three' : 'u' },
      })),
      'current-context': 'one',
    }),
  );
  const start = { port: 0, open: false, embedded: false, objects: 1, rate: 0, seed: 1 };
  dashboard = await startDashboard({ ...start, kubeconfig }, () => undefined);
});
afterAll(async () => {
  await dashboard?.close();
  for (const close of closing) await close();
  await rm(folder, { recursive: true });
});

const ask = async (path: string, options: RequestInit = {}) => {
  const answer = await fetch(`${dashboard.url}${path}`, options);
  return { status: answer.status, body: await answer.text() };
};
const json = async (path: string) => JSON.parse((await ask(path)).body);

function choose(context: string, headers: Record<string, string> = {}) {
  const own = { origin: dashboard.url.slice(0, -1), 'content-type': 'application/json' };
  const body = JSON.stringify({ context });
  return ask('dashboard/context', { method: 'POST', headers: { ...own, ...headers }, body });
}

/** The path before those of the API, as the page is told. */
const baseOfPage = async () =>
  /"base":"([^"]*)"/.exec(decodeURIComponent((await ask('')).body))?.[1] ?? 'none';

const names = async (path: string) =>
  (await json(path)).items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);

test('the contexts are listed, and no plugin of them runs', async () => {
  expect(await json('dashboard/info?page=1')).toMatchObject({ context: 'one', hasContexts: true });
  expect(await json('dashboard/contexts')).toEqual({ contexts: ['one', 'two', 'three'] });
  expect(await names('api/v1/pods')).toEqual(['of-one']);
  expect(existsSync(marker)).toBe(false);
});

test('only the page of the dashboard chooses, and a context that there is', async () => {
  expect((await choose('two', { origin: 'http://evil.example' })).status).toBe(403);
  expect((await choose('two', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await choose('two', { 'content-type': 'text/plain' })).status).toBe(403);
  expect((await ask('dashboard/context')).status).toBe(405);
  const bodies = ['{}', '[]', '{"context":1}'];
  for (const body of bodies) {
    const headers = { origin: dashboard.url.slice(0, -1), 'content-type': 'application/json' };
    const { status } = await ask('dashboard/context', { method: 'POST', headers, body });
    expect(status, body).toBe(400);
  }
  const none = await choose('nowhere');
  expect(none.status).toBe(502);
  expect(none.body).toMatch(/^The cluster cannot be used: [^\n]+\.\n$/);
  expect(await baseOfPage()).toBe('');
  expect(await names('api/v1/pods')).toEqual(['of-one']);
});

test('the chosen context has paths of its own, and requests of a page of the former one never reach it', async () => {
  expect((await choose('two')).status).toBe(200);
  expect(await json('dashboard/info?page=1')).toMatchObject({ context: 'two' });
  const base = await baseOfPage();
  expect(base).toMatch(/^\/context\/\d+$/);
  expect(await names(`${base.slice(1)}/api/v1/pods`)).toEqual(['of-two']);
  servers.two.clearRequests();
  for (const path of ['api/v1/pods', 'context/999/api/v1/pods', 'context/0/api/v1/pods']) {
    const { status, body } = await ask(path);
    expect({ status, body }, path).toEqual({
      status: 421,
      body: 'This dashboard shows another context now; reload the page.\n',
    });
  }
  expect((await ask(`${base.slice(1)}/api/v1/namespaces/shop/pods/of-two/exec`)).status).toBe(403);
  expect((await ask(`${base.slice(1)}/dashboard/info`)).status).toBe(404);
  expect(servers.two.requests).toEqual([]);
});

test('the kinds that discovery finds are those of the chosen context, and so are the requests that are forwarded', async () => {
  const plurals = async () =>
    (await json('dashboard/kinds')).map(({ plural }: { plural: string }) => plural);
  const leases = 'apis/coordination.k8s.io/v1/leases';
  expect((await choose('one')).status).toBe(200);
  expect(await plurals()).toEqual(['secrets', 'leases']);
  expect((await ask(`${(await baseOfPage()).slice(1)}/${leases}`)).status).toBe(200);
  expect((await choose('two')).status).toBe(200);
  expect(await plurals()).toEqual(['secrets']);
  expect((await ask(`${(await baseOfPage()).slice(1)}/${leases}`)).status).toBe(403);
});

test('the plugin of a context runs when it is chosen, and the former context stays if it does not answer', async () => {
  expect(existsSync(marker)).toBe(false);
  const { status, body } = await choose('three');
  expect(status).toBe(502);
  expect(body).not.toContain('secret-token');
  expect(existsSync(marker)).toBe(true);
  expect(await json('dashboard/info?page=1')).toMatchObject({ context: 'two' });
});
