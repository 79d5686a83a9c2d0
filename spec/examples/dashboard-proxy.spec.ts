/** Tests which requests the dashboard forwards to a cluster, over real sockets and a fake API server. */
import { request as httpRequest } from 'node:http';
import { createClient } from 'rx-informer';
import { configMaps, deployments, pods, secrets } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClusterProxy } from '../../examples/dashboard/proxy.ts';
import {
  judge,
  type ProxyRules,
  REVIEWS,
} from '../../examples/dashboard/server/allowed-requests.ts';
import { type DashboardServer, serveDashboard } from '../../examples/dashboard/server.ts';
import { rootOf, shownKinds } from '../../examples/dashboard/shared/kinds.ts';
import { eventually } from '../support/patience.ts';

const SECRET = 'hunter2-of-the-cluster';
let cluster: FakeApiServer;
let server: DashboardServer;

async function serve(rules: ProxyRules = {}): Promise<void> {
  await server?.close();
  const client = createClient({ baseUrl: 'http://cluster', fetch: cluster.fetch, qps: 0 });
  const proxy = createClusterProxy(client, rules);
  server = await serveDashboard({ proxy, rules, files: () => false, cluster: 'test', port: 0 });
}

beforeEach(async () => {
  cluster = createFakeApiServer();
  const meta = (name: string, namespace = 'shop') => ({ metadata: { name, namespace } });
  const spec = { containers: [{ name: 'main', image: 'web:1' }] };
  cluster.objects.create(pods, { ...meta('web-0'), spec });
  cluster.objects.create(pods, { ...meta('web-0', 'billing'), spec });
  cluster.objects.create(deployments, {
    ...meta('web'),
    spec: { replicas: 1, selector: {}, template: {} },
  });
  cluster.objects.create(configMaps, { ...meta('settings'), data: { password: SECRET } });
  cluster.objects.create(secrets, { ...meta('password'), data: { password: SECRET } });
  cluster.logs.append({ namespace: 'shop', name: 'web-0' }, 'one\ntwo');
  await serve();
  cluster.clearRequests();
});
afterEach(() => server.close());

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Sends a path exactly as it is written, which `fetch` would not do. */
function ask(path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const options = { host: '127.0.0.1', port: server.port, path, method, headers };
    const outgoing = httpRequest(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    outgoing.on('error', reject).end(method === 'GET' ? undefined : body);
  });
}

const MERGE = 'application/merge-patch+json';

function write(path: string, body: unknown, { method = 'PATCH', headers = {} }: Asked = {}) {
  const type = method === 'PATCH' ? MERGE : 'application/json';
  const origin = `http://127.0.0.1:${server.port}`;
  const text = method === 'GET' ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  return ask(path, {
    method,
    // Node does not frame the body of a DELETE by itself.
    headers: { origin, 'content-type': type, 'content-length': `${text.length}`, ...headers },
    body: text,
  });
}

const forwardedPaths = () => cluster.requests.map(({ method, path }) => `${method} ${path}`);

describe('reads', () => {
  test('each shown kind can be listed, watched and read, in one namespace and in all', () => {
    for (const kind of shownKinds) {
      const collection = `${rootOf(kind)}/${kind.plural}`;
      const inside = `${rootOf(kind)}/namespaces/shop/${kind.plural}`;
      const paths = kind.namespaced ? [collection, inside, `${inside}/a`] : [`${collection}/a`];
      for (const path of paths) expect(judge('GET', path, {}), path).not.toHaveProperty('sentence');
      // An object has no second name, and a cluster-scoped one has no namespace.
      const wrong = kind.namespaced ? [`${collection}/a`, `${inside}/a/b`] : [inside];
      for (const path of wrong) expect(judge('GET', path, {}), path).toHaveProperty('sentence');
    }
  });

  test('what Pods and Nodes use is read, in one namespace if only that is shown', () => {
    const root = '/apis/metrics.k8s.io/v1beta1';
    const isForwarded = (method: string, path: string, rules: ProxyRules = {}) =>
      !('sentence' in judge(method, `${root}${path}`, rules));
    for (const path of ['/pods', '/namespaces/shop/pods', '/nodes']) {
      expect(isForwarded('GET', path), path).toBe(true);
      expect(isForwarded('PATCH', path), path).toBe(false);
    }
    for (const path of ['', '/services', '/namespaces/shop/pods/web-0/log', '/nodes/a/proxy']) {
      expect(isForwarded('GET', path), path).toBe(false);
    }
    expect(isForwarded('GET', '/pods', { namespace: 'shop' })).toBe(false);
    expect(isForwarded('GET', '/namespaces/shop/pods', { namespace: 'shop' })).toBe(true);
  });

  test('selectors are forwarded', async () => {
    const selected = await ask(
      '/api/v1/pods?fieldSelector=metadata.namespace%3Dshop&labelSelector=!x',
    );
    expect(JSON.parse(selected.body).items).toHaveLength(1);
    expect(cluster.requests[0]?.query).toEqual({
      fieldSelector: 'metadata.namespace=shop',
      labelSelector: '!x',
    });
  });

  test('a log is forwarded, with its own parameters only', async () => {
    const path = '/api/v1/namespaces/shop/pods/web-0/log';
    expect((await ask(`${path}?tailLines=1&watch=true&insecureSkipTLSVerifyBackend=true`)).body)
      // The last line.
      .toBe('two\n');
    expect(cluster.requests[0]?.query).toEqual({ tailLines: '1' });
  });

  test('a log that is followed ends when the page closes it', async () => {
    const ending = new AbortController();
    const path = `${server.url}api/v1/namespaces/shop/pods/web-0/log?follow=true`;
    const { body } = await fetch(path, { signal: ending.signal });
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe('one\ntwo\n');
    cluster.logs.append({ namespace: 'shop', name: 'web-0' }, 'three');
    expect((await reader?.read())?.value).toBe('three\n');
    expect(cluster.logs.followers).toBe(1);
    ending.abort();
    await reader?.read().catch(() => undefined);
    await eventually(() => expect(cluster.logs.followers).toBe(0));
  });

  test('lists of config maps contain only metadata, whatever the page asks for, and one of them its data', async () => {
    for (const accept of [
      '*/*',
      'application/json',
      'application/json;as=Table;g=meta.k8s.io;v=v1',
    ]) {
      const { status, body } = await ask('/api/v1/configmaps', { headers: { accept } });
      expect(status).toBe(200);
      expect(body).toContain('settings');
      expect(body).not.toContain(SECRET);
    }
    const { body } = await ask('/api/v1/namespaces/shop/configmaps/settings');
    expect(body).toContain(SECRET);
  });

  test('an answer that forbids a list is passed on as it is', async () => {
    const message =
      'pods is forbidden: User "dev" cannot list resource "pods" at the cluster scope';
    cluster.faults.failNext({ resource: pods }, { status: 403, reason: 'Forbidden', message });
    const { status, body } = await ask('/api/v1/pods');
    expect(status).toBe(403);
    expect(JSON.parse(body)).toMatchObject({ kind: 'Status', reason: 'Forbidden', message });
  });
});

describe('nothing else', () => {
  const inside = '/api/v1/namespaces/shop';
  test.each([
    ...['/api/v1/secrets', `${inside}/secrets`, `${inside}/secrets/password`],
    ...['/api/v1/PODS', '/api/v1/pods/', '/api/v1/pods/%00', '/api/v1/pods/%2e%2e%2fsecrets'],
    ...['/api/v1/Secrets', '/api/v1/secret%73', `${inside}/secret%73/password`],
    ...[`${inside}/pods%2f..%2fsecrets`, `${inside}/pods/..%2fsecrets%2fpassword`],
    ...[`${inside}/pods/%2e%2e`, `${inside}/pods/a..b`, `${inside}/pods/a%00`, `${inside}/pods/`],
    ...[`${inside}/pods/;secrets`, `${inside}/pods/a%252f..%252fsecrets`, `${inside}/pods/web-0/`],
    ...['/api/v1/namespaces/shop%2fsecrets/pods', '/api/v1/namespaces//secrets'],
    ...['/api/v1/namespaces/%2e%2e/secrets', '/api/v1/namespaces/Shop/pods'],
    ...['exec', 'attach', 'portforward', 'proxy', 'proxy/x', 'eviction', 'binding', 'status'].map(
      (subresource) => `${inside}/pods/web-0/${subresource}`,
    ),
    ...['ephemeralcontainers', 'log/x', 'logs', 'lo%67'].map(
      (rest) => `${inside}/pods/web-0/${rest}`,
    ),
    ...['/api/v1/nodes/a/prox%79/', '/api/v1/nodes/a/log', '/api/v1/nodes/a/proxy/logs/'],
    ...[`${inside}/services/web/proxy`, `${inside}/services/web/log`],
    ...[`${inside}/serviceaccounts/default/token`, `${inside}/serviceaccounts`],
    ...[`${inside}/finalize`, `${inside}/status`, '/api/v1/componentstatuses'],
    ...['/apis/apps/v1/deployments/scale', '/apis/apps/v1/namespaces/shop/daemonsets/web/scale'],
    ...[`${inside}/pods/web-0/scale`, '/apis/batch/v1/namespaces/shop/jobs/a/scale'],
    ...['/api', '/api/', '/api/v1', '/apis', '/apis/', '/apis/apps', '/apis/apps/v1'],
    ...['/apis/v1/pods', '/api/v2/pods', '/apis/apps/v1beta1/deployments', '/apis//v1/secrets'],
    ...['/apis/rbac.authorization.k8s.io/v1/clusterroles', '/apis/batch/v1beta1/cronjobs'],
    ...['/apis/certificates.k8s.io/v1/certificatesigningrequests'],
    ...['/apis/authentication.k8s.io/v1/tokenreviews', `${REVIEWS}/x`, `${REVIEWS}/`],
    ...['/api/v1/watch/secrets', '/api/v1/watch/pods', '/api/v1/proxy/nodes/a'],
  ])('%s is refused, and not forwarded', async (path) => {
    for (const method of ['GET', 'PATCH', 'PUT', 'POST', 'DELETE']) {
      const { status } = await write(path, {}, { method });
      expect([400, 403]).toContain(status);
    }
    expect(cluster.requests).toEqual([]);
  });
});

describe('edits', () => {
  const path = '/apis/apps/v1/namespaces/shop/deployments/web';

  test('a dry run shows the result and changes nothing, then the edit is made', async () => {
    const dry = await write(`${path}?dryRun=All&force=true`, { spec: { replicas: 3 } });
    expect(JSON.parse(dry.body).spec.replicas).toBe(3);
    expect(cluster.requests[0]?.query).toEqual({ dryRun: 'All' });
    const ref = { namespace: 'shop', name: 'web' };
    expect(cluster.objects.get(deployments, ref)?.spec?.replicas).toBe(1);
    const steps = JSON.stringify([{ op: 'replace', path: '/spec/replicas', value: 2 }]);
    const headers = { 'content-type': 'application/json-patch+json' };
    expect((await write(path, steps, { headers })).status).toBe(200);
    const edited = cluster.objects.get(deployments, ref);
    expect(edited?.spec?.replicas).toBe(2);
    const put = { ...edited, spec: { ...edited?.spec, replicas: 4 } };
    expect((await write(path, put, { method: 'PUT' })).status).toBe(200);
    expect((await write(path, put, { method: 'PUT' })).status).toBe(409);
    expect(cluster.objects.get(deployments, ref)?.spec?.replicas).toBe(4);
  });

  test('a write without an Origin, of another type or of more than 2 MiB is refused', async () => {
    const headers = { 'content-type': MERGE };
    expect((await ask(path, { method: 'PATCH', headers, body: '{}' })).status).toBe(403);
    for (const type of ['text/plain', 'application/json', 'application/apply-patch+yaml', '']) {
      const { status } = await write(path, {}, { headers: { 'content-type': type } });
      // A form could send the first one.
      expect(status, type).toBe(type === 'text/plain' ? 403 : 415);
    }
    expect((await write(path, ' '.repeat(2 * 1024 * 1024 + 1))).status).toBe(413);
    expect(cluster.requests).toEqual([]);
  });

  test('no collection, status, event, namespace or config map can be written', () => {
    const inside = '/api/v1/namespaces/shop';
    for (const method of ['PATCH', 'PUT', 'POST', 'DELETE']) {
      for (const at of [
        ...[`${inside}/pods`, '/api/v1/pods', inside, `${inside}/pods/web-0/log`],
        ...[`${path}/status`, `${inside}/events/a`, `${inside}/configmaps/a`],
        ...['/api/v1/namespaces/shop', '/apis/batch/v1/jobs', '/apis/batch/v1/jobs/a'],
        '/apis/apps/v1/namespaces/shop/replicasets/a',
      ]) {
        expect(judge(method, at, {}), `${method} ${at}`).toHaveProperty('sentence');
      }
    }
    for (const method of ['POST', 'OPTIONS', 'HEAD', 'get', '']) {
      expect(judge(method, path, {}), method).toMatchObject({
        code: 405,
        allow: 'GET, PATCH, PUT, DELETE',
      });
    }
  });

  test('a deletion names the object by its UID and its version, and is composed again', async () => {
    const ref = { namespace: 'shop', name: 'web' };
    const { uid = '', resourceVersion = '' } =
      cluster.objects.get(deployments, ref)?.metadata ?? {};
    const remove = (body: unknown) => write(path, body, { method: 'DELETE' });
    for (const bad of [
      ...['', '{', '{}', { preconditions: { uid } }, { preconditions: { resourceVersion } }],
      { preconditions: { uid: 1, resourceVersion } },
    ]) {
      expect((await remove(bad)).status, JSON.stringify(bad)).toBe(400);
    }
    expect(cluster.requests).toEqual([]);
    const other = { preconditions: { uid: 'another', resourceVersion } };
    expect((await remove(other)).status).toBe(409);
    const preconditions = { uid, resourceVersion };
    expect((await remove({ preconditions, dryRun: ['All'] })).status).toBe(200);
    expect(cluster.objects.get(deployments, ref)).toBeDefined();
    const odd = { preconditions, gracePeriodSeconds: 0, propagationPolicy: 'Never' };
    expect((await remove(odd)).status).toBe(200);
    expect(cluster.objects.get(deployments, ref)).toBeUndefined();
  });

  test('a scale is patched, a Job is created in its namespace, and a Node is not deleted', () => {
    expect(judge('PATCH', `${path}/scale`, {})).toMatchObject({ use: 'write' });
    expect(judge('POST', '/apis/batch/v1/namespaces/shop/jobs', {})).toMatchObject({
      use: 'write',
    });
    for (const method of ['GET', 'PUT', 'POST', 'DELETE']) {
      expect(judge(method, `${path}/scale`, {}), method).toHaveProperty('code', 405);
    }
    expect(judge('PATCH', '/api/v1/nodes/n1', {})).toMatchObject({ use: 'write' });
    expect(judge('DELETE', '/api/v1/nodes/n1', {})).toHaveProperty('code', 405);
    const revisions = '/apis/apps/v1/namespaces/shop/controllerrevisions';
    expect(judge('GET', revisions, {})).toMatchObject({ use: 'collection' });
    expect(judge('PATCH', `${revisions}/a`, {})).toHaveProperty('code', 405);
    const readOnly = { readOnly: true };
    for (const [method, at] of [
      ['PATCH', `${path}/scale`],
      ['DELETE', path],
      ['POST', '/apis/batch/v1/namespaces/shop/jobs'],
    ] as const) {
      expect(judge(method, at, readOnly), at).toHaveProperty('code', 405);
      expect(judge(method, at, { namespace: 'billing' }), at).toHaveProperty('code', 403);
    }
  });

  test('a dashboard that only reads refuses edits in one sentence', async () => {
    await serve({ readOnly: true });
    const { status, body } = await write(path, { spec: { replicas: 3 } });
    expect({ status, body }).toEqual({
      status: 405,
      body: 'This dashboard only reads: PATCH is not forwarded.\n',
    });
    expect((await ask(path)).status).toBe(200);
    expect(forwardedPaths()).toEqual([`GET ${path}`]);
  });
});

describe('a review of rights', () => {
  const spec = { resourceAttributes: { verb: 'list', resource: 'pods', namespace: 'shop' } };

  test('is composed again from the fields that it may have', async () => {
    const sent: unknown[] = [];
    const client = createClient({
      baseUrl: 'http://cluster',
      fetch: (async (_url: string, { body }: { body?: string }) => {
        sent.push(JSON.parse(body ?? ''));
        return new Response('{"status":{"allowed":true}}', {
          status: 201,
          headers: { 'content-type': 'application/json' },
        });
      }) as unknown as typeof fetch,
    });
    await server.close();
    const proxy = createClusterProxy(client);
    server = await serveDashboard({ proxy, files: () => false, cluster: 'test', port: 0 });
    const odd = { ...spec, user: 'root', groups: ['system:masters'], nonResourceAttributes: {} };
    const asked = { kind: 'TokenReview', spec: odd, status: { allowed: true } };
    const { status, body } = await write(REVIEWS, asked, { method: 'POST' });
    expect({ status, body }).toEqual({ status: 201, body: '{"status":{"allowed":true}}' });
    expect(sent).toEqual([
      { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec },
    ]);
    for (const bad of ['{', '1', 'null', '{}', '{"spec":{"resourceAttributes":{"verb":1}}}']) {
      expect((await write(REVIEWS, bad, { method: 'POST' })).status, bad).toBe(400);
    }
    expect(sent).toHaveLength(1);
  });

  test('of another namespace is refused if one namespace is shown', async () => {
    await serve({ namespace: 'billing' });
    expect((await write(REVIEWS, { spec }, { method: 'POST' })).status).toBe(403);
    expect(cluster.requests).toEqual([]);
  });
});

describe('with one namespace', () => {
  test('the page is told the restrictions', async () => {
    expect(JSON.parse((await ask('/dashboard/info')).body)).toEqual({ cluster: 'test' });
    await serve({ namespace: 'billing', readOnly: true });
    expect(JSON.parse((await ask('/dashboard/info')).body)).toEqual({
      cluster: 'test',
      namespace: 'billing',
      readOnly: true,
    });
  });

  test('its objects and the namespace itself are forwarded', async () => {
    await serve({ namespace: 'billing' });
    const paths = ['', '/pods', '/pods/web-0', '/pods/web-0/log', '/events'].map(
      (rest) => `/api/v1/namespaces/billing${rest}`,
    );
    for (const path of paths) {
      expect((await ask(path)).status, path).toBe(path.endsWith('/billing') ? 404 : 200);
    }
    expect(forwardedPaths()).toEqual(paths.map((path) => `GET ${path}`));
  });

  test.each([
    '/api/v1/pods',
    '/api/v1/nodes',
    '/api/v1/namespaces',
    '/api/v1/nodes/billing',
    '/api/v1/namespaces/shop',
    '/api/v1/namespaces/shop/pods',
    '/api/v1/namespaces/shop/pods/billing',
    '/api/v1/namespaces/billing2/pods',
    '/apis/apps/v1/deployments',
    '/api/v1/pods?fieldSelector=metadata.namespace%3Dbilling',
  ])('%s is refused', async (path) => {
    await serve({ namespace: 'billing' });
    for (const method of ['GET', 'PATCH', 'PUT']) {
      const { status, body } = await write(path, {}, { method });
      expect(status).toBe(403);
      expect(body).toBe(
        `This dashboard shows only the namespace billing; ${path.split('?')[0]} is outside of it.\n`,
      );
    }
    expect(cluster.requests).toEqual([]);
  });
});
