/** Tests what the actions of the dashboard send: after a dry run, which right they need, and how they are taken back. */
import { createClient, createResourceClient, type Resource, type Stored } from 'rx-informer';
import {
  controllerRevisions,
  cronJobs,
  deployments,
  jobs,
  nodes,
  pods,
  replicaSets,
  statefulSets,
} from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import type {
  Action,
  Chosen,
  Named,
  Target,
} from '../../examples/dashboard/page/actions/action.ts';
import { actions, actionsFor } from '../../examples/dashboard/page/actions/objects.ts';
import { revisionsOf } from '../../examples/dashboard/page/actions/revisions.ts';
import { lackingIn, rightWords } from '../../examples/dashboard/page/actions/rights.ts';
import { RESTARTED } from '../../examples/dashboard/page/actions/workloads.ts';
import { judge } from '../../examples/dashboard/server/allowed-requests.ts';

const AT_MS = Date.UTC(2026, 0, 1);

interface Sent {
  readonly line: string;
  readonly body: unknown;
}

let server: FakeApiServer;
let sent: Sent[];

/** A client that notes what it sends, and that the proxy of the dashboard would forward it. */
function client() {
  return createClient({
    baseUrl: 'http://fake',
    qps: 0,
    fetch: ((url: string, init: RequestInit = {}) => {
      const { pathname, search } = new URL(url);
      const method = init.method ?? 'GET';
      if (!pathname.includes('authorization')) {
        expect(judge(method, pathname, {}), `${method} ${pathname}`).not.toHaveProperty('sentence');
      }
      const body = init.body ? JSON.parse(String(init.body)) : undefined;
      if (method !== 'GET') sent.push({ line: `${method} ${pathname}${search}`, body });
      return server.fetch(url, init);
    }) as typeof fetch,
  });
}

const named = (id: string): Action => actions.find((action) => action.id === id) as Action;

async function act(
  id: string,
  resource: Named & { readonly namespaced: boolean },
  name: string,
  chosen: Partial<Chosen> = {},
) {
  sent = [];
  const of = client();
  const calls = createResourceClient(of, resource as Resource<never> as Resource<Target>);
  const namespace = resource.namespaced ? { namespace: 'shop' } : {};
  const object = (await calls.get({ name, ...namespace })) as Stored<Target>;
  const send = (dryRun: boolean) =>
    named(id).send({ client: of, calls, options: { dryRun } }, object, { atMs: AT_MS, ...chosen });
  const before = server.objects.resourceVersion;
  const dry = await send(true);
  // The dry run is the same request, and the server stores nothing.
  expect(server.objects.resourceVersion).toBe(before);
  const dryLines = sent.splice(0);
  const done = await send(false);
  expect(sent.map(({ body }) => ({ ...(body as object), dryRun: 0 }))).toEqual(
    dryLines.map(({ body }) => ({ ...(body as object), dryRun: 0 })),
  );
  expect(dry.says).toBe(done.says);
  return { object, done, send, dryLines };
}

const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image: 'x:2' }] },
};
const metadata = (name: string) => ({ name, namespace: 'shop' });
const spec = { replicas: 3, selector: { matchLabels: { app: 'web' } }, template };
const web = { name: 'web', namespace: 'shop' };

beforeEach(() => {
  sent = [];
  const workloads = [deployments, replicaSets, statefulSets, controllerRevisions, cronJobs, jobs];
  server = createFakeApiServer({ resources: [pods, nodes, ...workloads] });
  server.objects.create(deployments, { metadata: metadata('web'), spec });
});

describe('scale', () => {
  const path = '/apis/apps/v1/namespaces/shop/deployments/web/scale';

  test('patches the number of replicas of the version that was read, and undo sets the former one', async () => {
    const { object, done, dryLines } = await act('scale', deployments, 'web', { replicas: 5 });
    const { resourceVersion } = object.metadata;
    expect(dryLines).toEqual([
      {
        line: `PATCH ${path}?dryRun=All`,
        body: { metadata: { resourceVersion }, spec: { replicas: 5 } },
      },
    ]);
    expect(done.says).toBe('3 → 5 replicas');
    expect(server.objects.get(deployments, web)?.spec?.replicas).toBe(5);
    sent = [];
    await done.undo?.();
    expect(sent).toMatchObject([{ line: `PATCH ${path}`, body: { spec: { replicas: 3 } } }]);
    expect(server.objects.get(deployments, web)?.spec?.replicas).toBe(3);
  });

  test('to no replica and back, while the status changes', async () => {
    const { done } = await act('scale', deployments, 'web', { replicas: 0 });
    const now = server.objects.get(deployments, web);
    server.objects.update(deployments, { ...now, status: { replicas: 1 } } as never);
    await done.undo?.();
    expect(server.objects.get(deployments, web)?.spec?.replicas).toBe(3);
  });

  test('neither it nor its undo overwrites the number of somebody else', async () => {
    const { done, send } = await act('scale', deployments, 'web', { replicas: 5 });
    await expect(send(false)).rejects.toMatchObject({
      code: 409,
      message: 'web no longer has 3 replicas',
    });
    const now = server.objects.get(deployments, web);
    server.objects.update(deployments, { ...now, spec: { ...spec, replicas: 9 } } as never);
    await expect(done.undo?.()).rejects.toMatchObject({ code: 409 });
    expect(server.objects.get(deployments, web)?.spec?.replicas).toBe(9);
    await expect(act('scale', deployments, 'web', { replicas: 9 })).rejects.toThrow(
      'It has 9 replicas already.',
    );
  });
});

describe('restart', () => {
  const annotations = () =>
    server.objects.get(deployments, web)?.spec?.template.metadata?.annotations;

  test('annotates the template as kubectl does, and undo removes the annotation', async () => {
    const { object, done, dryLines } = await act('restart', deployments, 'web');
    const value = object.metadata.resourceVersion;
    expect(dryLines).toEqual([
      {
        line: 'PATCH /apis/apps/v1/namespaces/shop/deployments/web?dryRun=All',
        body: [
          { op: 'test', path: '/metadata/resourceVersion', value },
          // Nobody else has added annotations.
          { op: 'test', path: '/spec/template/metadata/annotations', value: null },
          {
            op: 'add',
            path: '/spec/template/metadata/annotations',
            value: { [RESTARTED]: '2026-01-01T00:00:00.000Z' },
          },
        ],
      },
    ]);
    expect(annotations()).toEqual({ [RESTARTED]: '2026-01-01T00:00:00.000Z' });
    const now = server.objects.get(deployments, web);
    server.objects.update(deployments, { ...now, status: { replicas: 1 } } as never);
    await done.undo?.();
    expect(annotations()).toBeUndefined();
  });

  test('undo leaves a template that somebody else has written since', async () => {
    const { done } = await act('restart', deployments, 'web');
    const newer = { ...template, metadata: { annotations: { [RESTARTED]: 'later' } } };
    const now = server.objects.get(deployments, web);
    server.objects.update(deployments, { ...now, spec: { ...spec, template: newer } } as never);
    await expect(done.undo?.()).rejects.toMatchObject({ code: 409, message: /another template/ });
    expect(annotations()).toEqual({ [RESTARTED]: 'later' });
  });
});

describe('roll back', () => {
  const owned = (name: string, uid: string, more: object = {}) => ({
    ...{ name, namespace: 'shop', labels: { app: 'web' } },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'X', name: 'web', uid, controller: true }],
    ...more,
  });

  test('to the template of an earlier ReplicaSet, without the hash of its Pods', async () => {
    const { uid = '' } = server.objects.get(deployments, web)?.metadata ?? {};
    for (const [number, image] of [
      [1, 'x:1'],
      [2, 'x:2'],
    ] as const) {
      const labels = { app: 'web', 'pod-template-hash': `${number}` };
      const annotations = {
        'deployment.kubernetes.io/revision': `${number}`,
        'kubernetes.io/change-cause': `for ${number}`,
      };
      server.objects.create(replicaSets, {
        metadata: owned(`web-${number}`, uid, { annotations }),
        spec: {
          selector: {},
          template: { metadata: { labels }, spec: { containers: [{ name: 'c', image }] } },
        },
      });
    }
    server.objects.create(replicaSets, {
      metadata: owned('other-1', 'another'),
      spec: { selector: {}, template: {} },
    });
    const object = server.objects.get(deployments, web) as Stored<Target>;
    const found = await revisionsOf(client(), deployments, object);
    expect(found.map(({ number, note }) => `${number} ${note}`)).toEqual([
      '2 for 2 · x:2',
      '1 for 1 · x:1',
    ]);
    const { done, dryLines } = await act('rollback', deployments, 'web', { revision: found[1] });
    expect(dryLines[0]?.line).toContain('?dryRun=All');
    const now = () => server.objects.get(deployments, web)?.spec?.template;
    expect(now()).toEqual({
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image: 'x:1' }] },
    });
    await done.undo?.();
    expect(now()).toEqual(template);
  });

  test('a StatefulSet has ControllerRevisions', async () => {
    const made = server.objects.create(statefulSets, {
      metadata: metadata('web'),
      spec: { ...spec, serviceName: 'web' },
    });
    server.objects.create(controllerRevisions, {
      metadata: owned('web-7f', made.metadata.uid),
      revision: 4,
      data: { spec: { template: { ...template, $patch: 'replace' } } },
    } as never);
    const [revision] = await revisionsOf(client(), statefulSets, made as Stored<Target>);
    expect(revision).toMatchObject({ number: 4, template, note: 'x:2' });
    expect(revision?.template).not.toHaveProperty('$patch');
  });
});

test('a CronJob runs now as a Job of its template, which it owns', async () => {
  const made = server.objects.create(cronJobs, {
    metadata: metadata('nightly'),
    spec: {
      schedule: '0 3 * * *',
      jobTemplate: {
        metadata: { labels: { app: 'n' } },
        spec: { template: { spec: { containers: [] } } },
      },
    },
  });
  const { done, dryLines } = await act('run', cronJobs, 'nightly');
  expect(dryLines[0]?.line).toBe('POST /apis/batch/v1/namespaces/shop/jobs?dryRun=All');
  const [job] = server.objects.list(jobs);
  expect(done.says).toBe(`creates the Job ${job?.metadata?.name}`);
  expect(job).toMatchObject({
    metadata: {
      name: expect.stringMatching(/^nightly-manual-\w{6}$/),
      labels: { app: 'n' },
      annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' },
      ownerReferences: [{ kind: 'CronJob', uid: made.metadata.uid, controller: true }],
    },
    spec: { template: { spec: { containers: [] } } },
  });
});

test('a Node is cordoned and opened again', async () => {
  server.objects.create(nodes, { metadata: { name: 'n1' } });
  const ids = () =>
    actionsFor(nodes, server.objects.get(nodes, { name: 'n1' }) as Target).map(({ id }) => id);
  expect(ids()).toEqual(['cordon']);
  await act('cordon', nodes, 'n1');
  expect(server.objects.get(nodes, { name: 'n1' })?.spec?.unschedulable).toBe(true);
  expect(ids()).toEqual(['uncordon']);
  await expect(act('cordon', nodes, 'n1')).rejects.toThrow('It is cordoned already.');
  await act('uncordon', nodes, 'n1');
  expect(server.objects.get(nodes, { name: 'n1' })?.spec?.unschedulable).toBeUndefined();
});

test('a deletion names the UID and the version that were read', async () => {
  const { object, dryLines, send } = await act('delete', deployments, 'web').then(
    async (made) => made,
  );
  const { uid, resourceVersion } = object.metadata;
  expect(dryLines).toMatchObject([
    {
      line: 'DELETE /apis/apps/v1/namespaces/shop/deployments/web',
      body: {
        preconditions: { uid, resourceVersion },
        dryRun: ['All'],
        propagationPolicy: 'Background',
      },
    },
  ]);
  expect(server.objects.get(deployments, web)).toBeUndefined();
  // Another object has the name now.
  server.objects.create(deployments, { metadata: metadata('web'), spec });
  await expect(send(false)).rejects.toMatchObject({ code: 409 });
  expect(server.objects.get(deployments, web)).toBeDefined();
});

describe('rights', () => {
  test('each action asks for the right of the requests that it sends', async () => {
    const asked = actions.map(({ id, right, on: [first = ''] }) => {
      const [resource = ''] = first.split('.');
      const all = [deployments, cronJobs, nodes, pods].find(({ plural }) => plural === resource);
      return `${id}: ${rightWords(right(all ?? pods), { namespace: 'shop' })}`;
    });
    expect(asked).toEqual([
      'scale: patch deployments.apps/scale in shop',
      'restart: patch deployments.apps in shop',
      'rollback: patch deployments.apps in shop',
      'run: create jobs.batch in shop',
      'cordon: patch nodes in shop',
      'uncordon: patch nodes in shop',
      'delete: delete pods in shop',
    ]);
  });

  test('are judged by the server, in each place', async () => {
    server = createFakeApiServer({
      allows: ({ verb, namespace, name }) =>
        verb !== 'delete' || (namespace === 'shop' && name !== 'b'),
    });
    const right = named('delete').right(pods);
    const place = (namespace: string, name: string) => ({ namespace, name });
    const places = [place('shop', 'a'), place('shop', 'b'), place('billing', 'a')];
    expect(await lackingIn(client(), right, places)).toEqual(places.slice(1));
    server.faults.refuse();
    expect(await lackingIn(client(), right, places)).toEqual([]);
  });

  test('several marked objects have all actions but the return to a revision', () => {
    const ids = (resource: Named) => actionsFor(resource).map(({ id }) => id);
    expect(ids(deployments)).toEqual(['scale', 'restart', 'delete']);
    expect(ids(nodes)).toEqual(['cordon', 'uncordon']);
    expect(ids(pods)).toEqual(['delete']);
    expect(ids(cronJobs)).toEqual(['run', 'delete']);
    expect(ids(replicaSets)).toEqual([]);
  });
});
