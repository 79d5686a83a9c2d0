/** Tests the actions of the dashboard, through its proxy, on a real kube-apiserver: dry runs, preconditions, undo and rights. */
import {
  createClient,
  createResourceClient,
  type KubeClient,
  type Resource,
  type Stored,
} from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import {
  cronJobs,
  type Deployment,
  deployments,
  jobs,
  namespaces,
  nodes,
  replicaSets,
  statefulSets,
} from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Chosen, Named, Target } from '../../examples/dashboard/page/actions/action.ts';
import { actions } from '../../examples/dashboard/page/actions/objects.ts';
import { revisionsOf } from '../../examples/dashboard/page/actions/revisions.ts';
import { lackingIn } from '../../examples/dashboard/page/actions/rights.ts';
import { createClusterProxy } from '../../examples/dashboard/proxy.ts';
import { type DashboardServer, serveDashboard } from '../../examples/dashboard/server.ts';
import { type Cluster, noControl, openCluster } from './cluster.ts';

describe('actions of the dashboard on a real API server', () => {
  let cluster: Cluster;
  let direct: KubeClient;
  let server: DashboardServer;
  /** Sends what the page would send, to the dashboard. */
  let client: KubeClient;
  let namespace: string;
  const stops: (() => Promise<unknown>)[] = [];

  /** A dashboard over a client. Its page sends the origin with each write. */
  async function dashboardOver(of: KubeClient): Promise<KubeClient> {
    const proxy = createClusterProxy(of, {});
    server = await serveDashboard({ proxy, files: () => false, cluster: 'e2e', port: 0 });
    stops.push(server.close);
    const origin = server.url.slice(0, -1);
    const page = ((url: string, init: RequestInit) => {
      const headers = new Headers(init.headers);
      headers.set('origin', origin);
      return fetch(url, { ...init, headers });
    }) as typeof fetch;
    return createClient({ baseUrl: origin, qps: 0, fetch: page });
  }

  beforeAll(async () => {
    cluster = await openCluster();
    direct = await clientFromKubeConfig({ file: cluster.kubeconfig, qps: 0 });
    client = await dashboardOver(direct);
    const made = await createResourceClient(direct, namespaces).create({
      metadata: { generateName: 'rx-informer-' },
    });
    namespace = made.metadata.name;
  });
  afterAll(async () => {
    if (namespace) await createResourceClient(direct, namespaces).delete(namespace);
    for (const stop of stops) await stop();
    await client?.close();
    await direct?.close();
    await cluster?.close();
  });

  const template = (image: string) => ({
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'c', image }] },
  });
  const spec = {
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    template: template('x:2'),
  };

  /** Reads an object, sends a dry run and then the action; the dry run changes nothing. */
  async function act(
    id: string,
    resource: Named & { readonly namespaced: boolean },
    name: string,
    chosen: Partial<Chosen> = {},
  ) {
    const action = actions.find((each) => each.id === id);
    if (action === undefined) throw new Error(`no action ${id}`);
    const calls = createResourceClient(client, resource as Resource<never> as Resource<Target>);
    const target = { name, ...(resource.namespaced ? { namespace } : {}) };
    const object = (await calls.get(target)) as Stored<Target>;
    const send = (dryRun: boolean) =>
      action.send({ client, calls, options: { dryRun } }, object, {
        atMs: Date.UTC(2026, 0, 1),
        ...chosen,
      });
    await send(true);
    const after = await calls.get(target);
    expect(after.metadata.resourceVersion).toBe(object.metadata.resourceVersion);
    return { object, send, done: await send(false), calls };
  }

  it('scales to no replica and back, and does not overwrite the number of somebody else', async () => {
    const apps = createResourceClient(direct, deployments).namespace(namespace);
    await apps.create({ metadata: { name: 'scaled' }, spec });
    const replicas = async () => (await apps.get('scaled')).spec?.replicas;
    const { done, send } = await act('scale', deployments, 'scaled', { replicas: 0 });
    expect(await replicas()).toBe(0);
    await apps.patchStatus('scaled', { merge: { status: { observedGeneration: 2 } } });
    await done.undo?.();
    expect(await replicas()).toBe(3);
    await apps.patch('scaled', { merge: { spec: { replicas: 9 } } });
    await expect(send(false)).rejects.toMatchObject({ code: 409 });
    await expect(done.undo?.()).rejects.toMatchObject({ code: 409 });
    expect(await replicas()).toBe(9);
    const sets = createResourceClient(direct, statefulSets).namespace(namespace);
    await sets.create({ metadata: { name: 'scaled' }, spec: { ...spec, serviceName: 'web' } });
    await act('scale', statefulSets, 'scaled', { replicas: 1 });
    expect((await sets.get('scaled')).spec?.replicas).toBe(1);
  });

  it('restarts, takes it back, and returns to an earlier revision', async () => {
    const apps = createResourceClient(direct, deployments).namespace(namespace);
    const { metadata } = await apps.create({ metadata: { name: 'web' }, spec });
    const templateNow = async () => (await apps.get('web')).spec?.template;
    const before = await templateNow();
    const { done } = await act('restart', deployments, 'web');
    expect((await templateNow())?.metadata?.annotations).toHaveProperty([
      'kubectl.kubernetes.io/restartedAt',
    ]);
    await apps.patchStatus('web', { merge: { status: { observedGeneration: 2 } } });
    await done.undo?.();
    expect(await templateNow()).toEqual(before);
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: metadata.uid };
    for (const number of [1, 2]) {
      const { template: of, selector } = { ...spec, template: template(`x:${number}`) };
      const labels = { app: 'web', 'pod-template-hash': `${number}` };
      await createResourceClient(direct, replicaSets).create({
        metadata: {
          ...{ name: `web-${number}`, namespace, labels },
          annotations: { 'deployment.kubernetes.io/revision': `${number}` },
          ownerReferences: [owner],
        },
        spec: { replicas: 0, selector, template: { ...of, metadata: { labels } } },
      });
    }
    const object = (await apps.get('web')) as Stored<Deployment> as Stored<Target>;
    const [, earlier] = await revisionsOf(client, deployments, object);
    const rolledBack = await act('rollback', deployments, 'web', { revision: earlier });
    expect(await templateNow()).toMatchObject(template('x:1'));
    expect((await templateNow())?.metadata?.labels).toEqual({ app: 'web' });
    await rolledBack.done.undo?.();
    expect(await templateNow()).toEqual(before);
  });

  it('cordons a Node and opens it again, and runs a CronJob now', async () => {
    const node = createResourceClient(direct, nodes);
    await node.create({ metadata: { name: `n-${namespace}` } });
    const name = `n-${namespace}`;
    stops.push(() => node.delete(name));
    await act('cordon', nodes, name);
    expect((await node.get(name)).spec?.unschedulable).toBe(true);
    await act('uncordon', nodes, name);
    expect((await node.get(name)).spec?.unschedulable).toBeUndefined();
    const of = { spec: { ...template('x:1').spec, restartPolicy: 'Never' as const } };
    const cron = await createResourceClient(direct, cronJobs).create({
      metadata: { name: 'nightly', namespace },
      spec: { schedule: '0 3 * * *', jobTemplate: { spec: { template: of } } },
    });
    await act('run', cronJobs, 'nightly');
    const { items } = await createResourceClient(direct, jobs).list({ namespace });
    expect(items.map((job) => job.metadata.ownerReferences?.[0]?.uid)).toEqual([cron.metadata.uid]);
  });

  it('deletes only the object and the version that were seen', async () => {
    const apps = createResourceClient(direct, deployments).namespace(namespace);
    await apps.create({ metadata: { name: 'gone' }, spec });
    const action = actions.find(({ id }) => id === 'delete');
    const calls = createResourceClient(client, deployments as Resource<never> as Resource<Target>);
    const seen = (await calls.get({ name: 'gone', namespace })) as Stored<Target>;
    await apps.patch('gone', { merge: { metadata: { labels: { newer: 'yes' } } } });
    const sending = { client, calls, options: {} };
    await expect(action?.send(sending, seen, { atMs: 0 })).rejects.toMatchObject({ code: 409 });
    const { send } = await act('delete', deployments, 'gone');
    await expect(apps.get('gone')).rejects.toMatchObject({ code: 404 });
    await apps.create({ metadata: { name: 'gone' }, spec });
    await expect(send(false)).rejects.toMatchObject({ code: 409 });
    expect((await apps.get('gone')).metadata.name).toBe('gone');
  });

  it.skipIf(noControl)('says which rights a user lacks, and the server refuses', async () => {
    const limited = await clientFromKubeConfig({ file: cluster.kubeconfig, context: 'limited' });
    stops.push(() => limited.close());
    const own = await dashboardOver(limited);
    const place = { namespace, name: 'web' };
    const of = [deployments, nodes, cronJobs];
    const rights = actions.map((action) => {
      const resource = of.find(({ plural }) => action.on.some((name) => name.startsWith(plural)));
      return action.right(resource ?? deployments);
    });
    for (const right of rights) {
      expect(await lackingIn(own, right, [place])).toEqual([place]);
      expect(await lackingIn(client, right, [place])).toEqual([]);
    }
    const get = createResourceClient(own, deployments).get(place);
    await expect(get).rejects.toMatchObject({ code: 403 });
  });
});
