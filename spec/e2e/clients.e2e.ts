/** Tests every call of a client on a real kube-apiserver. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  createDiscovery,
  createDynamicClient,
  createEventRecorder,
  createResourceClient,
  createRestMapper,
  type DynamicObject,
  type JsonPatchOperation,
  type KubeClient,
  type KubernetesObject,
  type Resource,
  type ResourceClient,
  type Status,
} from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import {
  type ConfigMap,
  clusterRoles,
  configMaps,
  customResourceDefinitions,
  type Deployment,
  deployments,
  eventsV1Events,
  namespaces,
  pods,
} from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { drafted, editBy } from '../../lib/client/edit.ts';
import { failureOf } from '../support/errors.ts';
import { eventually } from '../support/patience.ts';
import { streamingFlags } from './apiserver-binary.ts';
import { type Cluster, openCluster } from './cluster.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const definitionFile = fileURLToPath(new URL('../node/widgets.crd.yaml', import.meta.url));
const run = promisify(execFile);

describe('clients of a real API server', () => {
  let cluster: Cluster;
  let client: KubeClient;
  let namespace: string;
  let maps: ResourceClient<ConfigMap>;

  beforeAll(async () => {
    cluster = await openCluster({ flags: streamingFlags });
    client = await clientFromKubeConfig({ file: cluster.kubeconfig, qps: 0 });
    const made = await createResourceClient(client, namespaces).create({
      metadata: { generateName: 'rx-informer-' },
    });
    namespace = made.metadata.name ?? '';
    maps = createResourceClient(client, configMaps).namespace(namespace);
  });
  afterAll(async () => {
    if (namespace) await createResourceClient(client, namespaces).delete(namespace);
    await client?.close();
    await cluster?.close();
  });

  const deployment = (name: string): Deployment => ({
    metadata: { name },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'c', image: 'example.com/c:1' }] },
      },
    },
  });

  it('C2, C7: creates, gets, lists, updates and deletes', async () => {
    const created = await maps.create(
      { metadata: { generateName: 'prices-', labels: { set: 'crud' } }, data: { tea: '3' } },
      { fieldManager: 'me' },
    );
    const name = created.metadata?.name ?? '';
    expect(created).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { tea: '3' } });
    expect(created.metadata?.managedFields).toMatchObject([{ manager: 'me' }]);
    expect(await maps.get(name)).toEqual(created);
    expect((await failureOf(maps.create({ metadata: { name } }))).reason).toBe('AlreadyExists');
    const dry = await maps.create({ metadata: { name: 'dry' } }, { dryRun: true });
    expect(dry.metadata?.uid).toBeTruthy();
    expect((await failureOf(maps.get('dry'))).isNotFound).toBe(true);

    const updated = await maps.update({ ...created, data: { tea: '4' } });
    expect(updated.data).toEqual({ tea: '4' });
    expect((await failureOf(maps.update({ ...created, data: {} }))).reason).toBe('Conflict');
    const { items, metadata } = await maps.list({ labelSelector: 'set=crud' });
    expect(items).toEqual([updated]);
    expect(metadata.resourceVersion).toMatch(/^\d+$/);

    const preconditions = { resourceVersion: created.metadata?.resourceVersion ?? '' };
    expect((await failureOf(maps.delete(name, { preconditions }))).reason).toBe('Conflict');
    const uid = updated.metadata?.uid ?? '';
    const gone = (await maps.delete(updated, { preconditions: { uid } })) as Status;
    expect(gone).toMatchObject({ kind: 'Status', status: 'Success' });
  });

  it('C2: patches in three formats', async () => {
    const apps = createResourceClient(client, deployments).namespace(namespace);
    await apps.create(deployment('patched'));
    const two = await apps.patch('patched', {
      strategic: {
        spec: { template: { spec: { containers: [{ name: 'd', image: 'example.com/d:1' }] } } },
      },
    });
    expect(two.spec?.template.spec?.containers.map(({ name }) => name)).toEqual(['d', 'c']);
    const merged = await apps.patch('patched', { merge: { metadata: { labels: { a: 'b' } } } });
    expect(merged.metadata.labels).toEqual({ a: 'b' });
    const misfit = { json: [{ op: 'remove', path: '/spec/paused' }] } as const;
    expect(await failureOf(apps.patch('patched', misfit))).toMatchObject({ code: 422 });
    const added = await apps.patch('patched', {
      json: [{ op: 'add', path: '/spec/paused', value: true }],
    });
    expect(added.spec?.paused).toBe(true);
    const status = await apps.patchStatus('patched', { merge: { status: { replicas: 7 } } });
    expect(status.status?.replicas).toBe(7);
    const strict = { fieldValidation: 'Strict' } as const;
    const typo = { merge: { spec: { replikas: 3 } } } as unknown as { merge: object };
    expect((await failureOf(apps.patch('patched', typo, strict))).message).toContain('replikas');
  });

  it('C2: applies, and a conflict names the manager of the field', async () => {
    const metadata = { name: 'applied' };
    const mine = { fieldManager: 'mine' };
    await maps.apply({ metadata, data: { tea: '3', milk: '1' } }, mine);
    const applied = await maps.apply({ metadata, data: { tea: '4' } }, mine);
    expect(applied.data).toEqual({ tea: '4' });
    const theirs = { fieldManager: 'theirs' };
    const conflict = await failureOf(maps.apply({ metadata, data: { tea: '5' } }, theirs));
    expect(conflict).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(conflict.message).toContain('mine');
    const forced = await maps.apply({ metadata, data: { tea: '5' } }, { ...theirs, force: true });
    expect(forced.data).toEqual({ tea: '5' });
    const apps = createResourceClient(client, deployments).namespace(namespace);
    await apps.create(deployment('status-applied'));
    const status = await apps.applyStatus(
      { metadata: { name: 'status-applied' }, status: { replicas: 3 } },
      mine,
    );
    expect(status.status?.replicas).toBe(3);
  });

  it('C2: writes the status and the scale', async () => {
    const apps = createResourceClient(client, deployments).namespace(namespace);
    const made = await apps.create(deployment('scaled'));
    const status = await apps.updateStatus({
      ...made,
      spec: { ...(made.spec as NonNullable<Deployment['spec']>), replicas: 9 },
      status: { replicas: 2 },
    });
    expect(status.status?.replicas).toBe(2);
    expect(status.spec?.replicas).toBe(1);
    const scale = await apps.getScale('scaled');
    expect(scale).toMatchObject({ kind: 'Scale', spec: { replicas: 1 }, status: { replicas: 2 } });
    expect((await apps.updateScale('scaled', { spec: { replicas: 3 } })).spec?.replicas).toBe(3);
    const patched = await apps.patchScale('scaled', { merge: { spec: { replicas: 4 } } });
    expect(patched.spec?.replicas).toBe(4);
    expect((await apps.get('scaled')).spec?.replicas).toBe(4);
  });

  it('C10, C1: requests a log as text, and evicts', async () => {
    const all = createResourceClient(client, pods).namespace(namespace);
    const containers = [{ name: 'c', image: 'example.com/c:1' }];
    await all.create({ metadata: { name: 'p' }, spec: { containers } });
    // The pod is on no node, so there is no log. The server must not answer that it has no text format.
    await all.log('p', { follow: true }).forEach((line) => {
      expect.unreachable(line);
    });
    expect(await all.evict('p', { dryRun: true })).toMatchObject({ status: 'Success' });
    expect((await all.get('p')).metadata.deletionTimestamp).toBeUndefined();
    expect(await all.evict('p', { gracePeriodSeconds: 0 })).toMatchObject({ status: 'Success' });
    expect((await failureOf(all.get('p'))).isNotFound).toBe(true);
    expect((await failureOf(all.log('p').forEach(() => {}))).code).toBe(404);
  });

  it('C14: an invalid edit of an object that others change constantly is an invalid edit and no conflict', async () => {
    const name = { namespace, name: 'contended' };
    await maps.create({ metadata: name, data: { count: '0' } });
    let writes = 0;
    // Another writer follows each read and each refused patch.
    const calls = {
      ...maps,
      get: async () => {
        const read = await maps.get(name);
        await maps.patch(name, { merge: { data: { count: String(++writes) } } });
        return read;
      },
      patch: async (_target: unknown, { json }: { json: readonly JsonPatchOperation[] }) => {
        const [test, ...steps] = json;
        const { metadata } = await maps.get(name);
        const newest = { ...test, value: metadata.resourceVersion } as JsonPatchOperation;
        // The precondition holds, so the server checks the object.
        return maps.patch(name, { json: [newest, ...steps] });
      },
    };
    const failure = await failureOf(
      editBy<ConfigMap>(calls as never, 'edit', name, (base) =>
        drafted<ConfigMap>(base, (draft) => {
          draft.data = { 'not a key!': 'x' };
        }),
      ),
    );
    expect(failure).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(failure.message).toContain('not a key!');
    expect(writes).toBe(1);
    // A failed precondition has no causes, by which an edit tells the two apart.
    const json: readonly JsonPatchOperation[] = [
      { op: 'test', path: '/metadata/resourceVersion', value: '1' },
    ];
    const outdated = await failureOf(maps.patch(name, { json }));
    expect(outdated).toMatchObject({ code: 422 });
    expect(outdated.status?.details?.causes ?? []).toEqual([]);
  });

  it('N26: an event with long texts, or with an empty action, is one that the server accepts', async () => {
    const made = await maps.create({ metadata: { namespace, name: 'regarded' } });
    const dropped: unknown[] = [];
    const recorder = createEventRecorder(client, {
      component: 'e2e',
      instance: 'é'.repeat(100),
      onDropped: (error) => dropped.push(error),
    });
    recorder.event(made, { reason: 'é'.repeat(100), message: 'm', action: 'ü'.repeat(127) });
    recorder.event(made, { reason: 'Synced', message: '', action: '' });
    await recorder.close();
    expect(dropped).toEqual([]);
    const events = createResourceClient(client, eventsV1Events).namespace(namespace);
    const { items } = await events.list({ fieldSelector: 'reportingController=e2e' });
    expect(items.map(({ reason }) => reason).sort()).toEqual(['Synced', 'é'.repeat(64)]);
    expect(items.find(({ reason }) => reason === 'Synced')?.action).toBe('Synced');
  });

  it('C14, C15: an invalid edit, and an edit of an object that was recreated, are refused', async () => {
    const made = await maps.create({ metadata: { name: 'renewed' }, data: { a: '1' } });
    const invalid = failureOf(
      maps.edit(made, (draft) => {
        draft.metadata = { ...draft.metadata, labels: { 'not valid': '' } };
      }),
    );
    expect((await invalid).message).toContain('not valid');
    await maps.delete(made);
    await maps.create({ metadata: { name: 'renewed' }, data: { a: '2' } });
    const failure = await failureOf(
      maps.edit(made, (draft) => {
        draft.data = { a: '3' };
      }),
    );
    expect(failure).toMatchObject({ code: 404, reason: 'NotFound' });
    expect((await maps.get('renewed')).data).toEqual({ a: '2' });
  });

  it('C15: an edit by UID allows other writers to change other fields', async () => {
    const made = await maps.create({
      metadata: { name: 'by-uid', finalizers: ['example.com/a', 'example.com/b'] },
      data: { a: '1' },
    });
    await maps.patch('by-uid', { merge: { data: { b: '2' } } });
    const byUid = { check: 'uid' } as const;
    const raised = await maps.edit(
      made,
      (draft) => {
        draft.data = { ...draft.data, a: '3' };
      },
      byUid,
    );
    expect(raised.data).toEqual({ a: '3', b: '2' });
    const without = (finalizer: string) =>
      maps.edit(
        made,
        ({ metadata = {} }) => {
          metadata.finalizers = metadata.finalizers?.filter((each) => each !== finalizer) ?? [];
        },
        byUid,
      );
    await maps.delete('by-uid');
    await Promise.all([without('example.com/a'), without('example.com/b')]);
    expect((await failureOf(maps.get('by-uid'))).isNotFound).toBe(true);
  });

  it('C16, C17: discovers all resources in two requests, with the result of one request per version', async () => {
    const { resources, failed } = await createDiscovery(client).served();
    expect(failed).toEqual([]);
    const pod = resources.find(({ plural }) => plural === 'pods');
    expect(pod).toMatchObject({
      kind: 'Pod',
      namespaced: true,
      singular: 'pod',
      shortNames: ['po'],
    });
    expect(pod?.subresources).toEqual(expect.arrayContaining(['log', 'eviction', 'status']));
    const plain: KubeClient = {
      ...client,
      request: (request) => client.request({ ...request, headers: { accept: 'application/json' } }),
    };
    const legacy = await createDiscovery(plain).served();
    const names = (all: typeof resources) =>
      all.map(({ plural, apiVersion, kind, namespaced, subresources }) =>
        [apiVersion, plural, kind, namespaced, ...[...subresources].sort()].join(' '),
      );
    expect(names(legacy.resources).sort()).toEqual(names(resources).sort());
    const mapper = createRestMapper(createDiscovery(client));
    expect(await mapper.forPlural('deploy')).toEqual(deployments);
    expect(await mapper.forKind({ kind: 'ClusterRole' })).toEqual(clusterRoles);
  });

  it('C17, C19: a custom resource: its types from the cluster, and its objects', async () => {
    const definitions = createResourceClient(client, customResourceDefinitions);
    const documents = parseAllDocuments(await readFile(definitionFile, 'utf8'));
    const [, second] = Array.isArray(documents) ? documents : [];
    const dynamic = createDynamicClient(client);
    expect((await failureOf(dynamic.resource('widgets.example.com'))).reason).toBe('NoMatch');
    await definitions.create(second?.toJS());
    onTestFinished(async () => {
      await definitions.delete('widgets.example.com');
    });
    const find = () => dynamic.resource({ apiVersion: 'example.com/v1', kind: 'Widget' });
    const found = await eventually(find);

    await mkdir(`${root}.cache`, { recursive: true });
    const folder = await mkdtemp(`${root}.cache/crd-types-`);
    onTestFinished(() => rm(folder, { recursive: true }));
    const out = `${folder}/widgets.ts`;
    await run(process.execPath, [
      ...['--conditions=rx-informer-source', '--disable-warning=ExperimentalWarning'],
      ...[`${root}lib/command/rx-informer.ts`, 'crd-types', '--name', 'widgets.example.com'],
      ...['--kubeconfig', cluster.kubeconfig, '--out', out],
    ]);
    const text = await readFile(out, 'utf8');
    expect(text).toContain('export interface Widget extends KubernetesObject {');
    expect(text).toContain('  port?: number | string;');
    const made = (await import(out)) as { widgets: Resource<KubernetesObject> };
    expect(made.widgets).toEqual(found.resource);

    const widgets = found.namespace(namespace);
    const typed = createResourceClient(client, made.widgets).namespace(namespace);
    const spec = { size: 1, port: 'http', free: { 'a/b~c': [1, 2] } };
    const widget = await widgets.create({ metadata: { name: 'w' }, spec });
    expect(widget).toMatchObject({ apiVersion: 'example.com/v1', kind: 'Widget', spec });
    const strategic = { strategic: { spec: { size: 2 } } as Partial<DynamicObject> };
    expect((await failureOf(widgets.patch('w', strategic))).code).toBe(415);
    const invalid = widgets.edit('w', (draft) => {
      draft['spec'] = { size: 0, port: 1 };
    });
    expect((await failureOf(invalid)).message).toContain('spec.size');
    const pointed = await widgets.edit('w', (draft) => {
      const { free } = draft['spec'] as { free: Record<string, number[]> };
      free['a/b~c']?.unshift(0);
      free['~1/'] = [];
    });
    expect(pointed['spec']).toMatchObject({ free: { 'a/b~c': [0, 1, 2], '~1/': [] } });
    const edited = await typed.edit(
      'w',
      (draft) => {
        Object.assign(draft, { status: { ready: true, size: 1 } });
      },
      { subresource: 'status' },
    );
    expect(edited).toMatchObject({ status: { ready: true } });
    const scaled = await widgets.patchScale('w', { merge: { spec: { replicas: 5 } } });
    expect(scaled).toMatchObject({ spec: { replicas: 5 }, status: { replicas: 1 } });
    expect((await widgets.list()).items).toMatchObject([{ kind: 'Widget', spec: { size: 5 } }]);
  });
});
