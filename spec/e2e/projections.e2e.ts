/** Tests metadata and tables of a real server (lists, watches and relists), and a factory over three namespaces. */
import {
  addEventHandler,
  createDynamicInformerFactory,
  createInformerFactory,
  type Demand,
  exponentialBackoff,
  type InformerFactory,
  type InformerFactoryOptions,
  type KubeClient,
  type KubernetesObject,
  type PartialObjectMetadata,
  type Resource,
  type ResourceEventHandler,
  resourcePath,
  type SharedInformer,
  type TableColumn,
} from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { configMaps, type Pod, pods } from 'rx-informer/resources';
import { BehaviorSubject } from 'rxjs';
import { filter, take } from 'rxjs/operators';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/patience.ts';
import { projections } from '../support/projections.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { minor } from './apiserver-binary.ts';
import { noControl } from './cluster.ts';
import { establishWidgets, removeWidgets, type Widget, widgets } from './custom-resource.ts';
import { until } from './mirror.ts';
import { freshNamespace } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';

/** A demand that is opened and closed by calls. */
interface Valve {
  readonly demand: Demand;
  open(): void;
  close(): void;
}

/** Creates an open valve. */
function createValve(): Valve {
  const isOpen = new BehaviorSubject(true);
  return {
    demand: () => (isOpen.value ? null : isOpen.pipe(filter(Boolean), take(1))),
    open: () => isOpen.next(true),
    close: () => isOpen.next(false),
  };
}

/** No watch cache, so that a compaction has an immediate effect. */
const uncached = '--watch-cache-sizes=pods#0,widgets.example.com#0';

// Kubernetes 1.33 streams no tables.
describe.skipIf(noControl || minor < 34)('projections of a real server', () => {
  let server: ApiServerProcess;
  let api: RawApi;
  let client: KubeClient;
  let namespace: string;

  beforeAll(async () => {
    server = await startApiServer({
      flags: ['--feature-gates=ListFromCacheSnapshot=false', uncached],
    });
    api = await openRawApi(server.kubeconfig);
    client = await clientFromKubeConfig({ file: server.kubeconfig });
    namespace = await freshNamespace(api);
    await establishWidgets(api, [
      { name: 'Text', type: 'string', jsonPath: '.spec.text' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ]);
  });
  afterAll(async () => {
    await client?.close();
    if (api) await removeWidgets(api);
    api?.close();
    await server?.stop();
  });

  const factory = (options: InformerFactoryOptions = {}): InformerFactory => {
    const made = createInformerFactory(client, { namespace, projections, ...options });
    onTestFinished(() => made.stop());
    return made;
  };
  const path = (resource: Resource<KubernetesObject>, name?: string, subresource?: string) =>
    resourcePath(resource, {
      namespace,
      ...(name === undefined ? {} : { name }),
      ...(subresource === undefined ? {} : { subresource }),
    });
  const createPod = (name: string, labels: Record<string, string> = {}) =>
    api.ok<Pod>('POST', path(pods), {
      body: { metadata: { name, labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    });
  const setPhase = (name: string, phase: string) =>
    api.ok<Pod>('PATCH', path(pods, name, 'status'), { body: { status: { phase } } });
  const createWidget = (name: string, text: string) =>
    api.ok<Widget>('POST', path(widgets), {
      body: { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec: { text } },
    });
  const setText = (name: string, text: string) =>
    api.ok<Widget>('PATCH', path(widgets, name), { body: { spec: { text } } });
  const remove = (resource: Resource<KubernetesObject>, name: string) =>
    api.ok('DELETE', path(resource, name));
  const seen = (
    informer: Pick<SharedInformer<KubernetesObject>, 'whenObserved'>,
    { metadata = {} }: KubernetesObject,
  ) => informer.whenObserved(`${namespace}/${metadata.name}`, metadata.resourceVersion ?? '');
  const ended = (
    informer: Pick<SharedInformer<KubernetesObject>, 'whenObserved'>,
    { metadata = {} }: KubernetesObject,
  ) =>
    informer.whenObserved(`${namespace}/${metadata.name}`, {
      uid: metadata.uid ?? '',
      deleted: true,
    });

  it.each(['stream', 'pages'] as const)(
    'D11, W7: metadata of pods and of a custom resource, by %s',
    async (initialList) => {
      const old = await createPod('meta-old', { app: 'web' });
      const widget = await createWidget('meta-widget', 'one');
      const own = factory({ initialList });
      const informer = own.informer(pods, { as: 'metadata' });
      const widgetsOnly = own.informer(widgets, { as: 'metadata' });
      own.start();
      await own.whenSynced();

      const listed = informer.indexer.getByKey(`${namespace}/meta-old`);
      const { managedFields: _managedFields, ...metadata } = old.metadata ?? {};
      const expected = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata };
      expect(listed).toEqual(expected satisfies KubernetesObject as PartialObjectMetadata);
      expect(own.lister(pods, { as: 'metadata' }).list('app=web')).toEqual([listed]);

      const made = await createPod('meta-new');
      await seen(informer, made);
      const moved = await setPhase('meta-new', 'Running');
      const now = await seen(informer, moved);
      expect(Object.keys(now ?? {}).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
      await remove(pods, 'meta-new');
      await ended(informer, made);
      const changed = await setText('meta-widget', 'two');
      expect(await seen(widgetsOnly, changed)).not.toHaveProperty('spec');
      await remove(widgets, 'meta-widget');
      await ended(widgetsOnly, widget);
      await remove(pods, 'meta-old');
      await ended(informer, old);
      for (const each of [informer, widgetsOnly]) {
        expect(each.status).toMatchObject({ phase: 'watching', refusedItems: 0, relists: 0 });
        expect(each.status.error).toBeUndefined();
      }
    },
  );

  it.each(['stream', 'pages'] as const)(
    'D11, G12: rows of pods and of a custom resource, by %s',
    async (initialList) => {
      const old = await createPod('row-old');
      const widget = await createWidget('row-widget', 'one');
      const own = factory({ initialList });
      const informer = own.informer(pods, { as: 'table' });
      const ofWidgets = own.informer(widgets, { as: 'table' });
      const names = (columns: readonly TableColumn[]) => columns.map(({ name }) => name);
      const columns: string[][] = [];
      informer.columns$.subscribe((sent) => columns.push(names(sent)));
      own.start();
      await own.whenSynced();
      expect(columns).toHaveLength(1);
      expect(columns[0]?.slice(0, 5)).toEqual(['Name', 'Ready', 'Status', 'Restarts', 'Age']);
      const widgetColumns: string[][] = [];
      ofWidgets.columns$.subscribe((sent) => widgetColumns.push(names(sent)));
      expect(widgetColumns).toEqual([['Name', 'Text', 'Age']]);

      const row = informer.indexer.getByKey(`${namespace}/row-old`);
      expect(row).toMatchObject({ kind: 'TableRow', metadata: { uid: old.metadata?.uid } });
      expect(row?.cells.slice(0, 3)).toEqual(['row-old', '0/1', 'Pending']);
      expect(row?.metadata).not.toHaveProperty('managedFields');
      const updates: string[] = [];
      ofWidgets.updated$.subscribe(({ previous, object }) =>
        updates.push(`${previous.cells[1]} > ${object.cells[1]}`),
      );

      await seen(informer, await setPhase('row-old', 'Running'));
      expect(informer.indexer.getByKey(`${namespace}/row-old`)?.cells[2]).toBe('Running');
      await seen(ofWidgets, await setText('row-widget', 'two'));
      await seen(ofWidgets, await setText('row-widget', 'three'));
      expect(updates).toEqual(['one > two', 'two > three']);
      await remove(widgets, 'row-widget');
      await ended(ofWidgets, widget);
      await remove(pods, 'row-old');
      await ended(informer, old);
      expect(informer.indexer.size).toBe(0);
      expect(columns).toHaveLength(1);
      for (const each of [informer, ofWidgets]) {
        expect(each.status).toMatchObject({ phase: 'watching', refusedItems: 0, relists: 0 });
      }
    },
  );

  it('D11: an empty table reports its columns, and a bookmark moves its version', async () => {
    const own = factory();
    const informer = own.informer(widgets, { as: 'table' });
    own.start();
    await own.whenSynced();
    let columns: readonly TableColumn[] = [];
    informer.columns$.subscribe((sent) => {
      columns = sent;
    });
    expect(columns.map(({ name }) => name)).toEqual(['Name', 'Text', 'Age']);
    expect(informer.indexer.size).toBe(0);
    expect(informer.indexer.resourceVersion).not.toBe('');
  });

  it('R9, D11: a relist delivers missed changes of rows and of metadata', async () => {
    const kept = await createPod('kept');
    const doomed = await createPod('doomed');
    const valve = createValve();
    const own = factory({
      demand: valve.demand,
      pauseLimitMs: 200,
      backoff: exponentialBackoff({ baseMs: 100, capMs: 1_000 }),
    });
    const rows = own.informer(pods, { as: 'table' });
    const metadata = own.informer(pods, { as: 'metadata' });
    own.start();
    await own.whenSynced();
    const deleted: string[] = [];
    const handler: ResourceEventHandler<unknown> = {
      onDelete: ({ key, finalStateUnknown }) => deleted.push(`${key} ${finalStateUnknown}`),
    };
    addEventHandler(rows, handler);
    addEventHandler(metadata, handler);
    const paused = [rows, metadata].map((informer) =>
      until(informer.status$, ({ phase }) => phase === 'paused'),
    );
    valve.close();
    await setPhase('kept', 'Running');
    await Promise.all(paused);
    await remove(pods, 'doomed');
    const late = await createPod('late');
    await server.compact();
    valve.open();
    await seen(rows, late);
    await seen(metadata, late);
    for (const informer of [rows, metadata]) {
      await until(informer.status$, ({ phase }) => phase === 'watching');
      expect(informer.status).toMatchObject({ relists: 1, refusedItems: 0 });
      expect([...informer.indexer.listKeys()].sort()).toEqual([
        `${namespace}/kept`,
        `${namespace}/late`,
      ]);
      const { metadata: now } = informer.indexer.getByKey(`${namespace}/kept`) ?? {};
      expect(now?.uid).toBe(kept.metadata?.uid);
    }
    expect(rows.indexer.getByKey(`${namespace}/kept`)?.cells[2]).toBe('Running');
    expect(deleted).toEqual(Array(2).fill(`${namespace}/${doomed.metadata?.name} true`));
    // The watch continues afterwards.
    await seen(rows, await setPhase('late', 'Failed'));
    expect(rows.indexer.getByKey(`${namespace}/late`)?.cells[2]).toBe('Failed');
    for (const name of ['kept', 'late']) await remove(pods, name);
  });

  it('G2, G1: a factory over three namespaces is one view, and leaves no watch', async () => {
    const namespaces = [namespace, await freshNamespace(api), await freshNamespace(api)];
    const outside = await freshNamespace(api);
    const create = (at: string, name: string) =>
      api.ok<KubernetesObject>('POST', resourcePath(configMaps, { namespace: at }), {
        body: { metadata: { name } },
      });
    for (const at of [...namespaces, outside]) await create(at, 'first');
    const before = await api.openWatches(configMaps);
    const own = factory({ namespace: '' });
    const whole = own.lister(configMaps, { namespaces });
    const rows = own.lister(configMaps, { namespaces, as: 'table' });
    own.start();
    await own.whenSynced();
    expect(whole.list()).toHaveLength(3);
    expect(whole.namespace(outside).list()).toEqual([]);
    for (const at of namespaces) {
      const made = await create(at, 'second');
      const fresh = await whole.atLeast(made);
      expect(fresh.namespace(at).get('second').metadata?.uid).toBe(made.metadata?.uid);
      await rows.atLeast(made);
    }
    expect(rows.list()).toHaveLength(6);
    expect(() => whole.get(`${outside}/first`)).toThrow('configmaps "first" not found');
    await own.stop();
    await eventually(async () => expect(await api.openWatches(configMaps)).toBe(before));
  });

  it.each(['stream', 'pages'] as const)(
    'W70, W72, S60: a real server answers requests for objects without managedFields, and a change keeps the other parts, by %s',
    async (initialList) => {
      const accept = 'application/json;drop=metadata.managedFields, application/json';
      const answer = await client.request<{ kind: string }>({
        path: path(pods),
        headers: { accept },
      });
      expect(answer.kind).toBe('PodList');
      const made = await createPod('slim', { app: 'web' });
      const own = factory({ initialList });
      const informer = own.informer(pods);
      own.start();
      await own.whenSynced();
      const stored = () => informer.indexer.getByKey(`${namespace}/slim`);
      await seen(informer, made);
      const before = stored();
      await seen(informer, await setPhase('slim', 'Running'));
      const after = stored();
      expect(after?.metadata).not.toHaveProperty('managedFields');
      expect(after?.status?.phase).toBe('Running');
      expect(after?.spec).toBe(before?.spec);
      expect(after?.metadata?.labels).toBe(before?.metadata?.labels);
      await remove(pods, 'slim');
      await ended(informer, made);
      expect(informer.status).toMatchObject({ phase: 'watching', refusedItems: 0, relists: 0 });
      expect(informer.status.error).toBeUndefined();
    },
  );

  it('G11, D13: a dynamic factory needs no kind', async () => {
    const pod = await createPod('named-only');
    const widget = await createWidget('named-only', 'one');
    for (const initialList of ['stream', 'pages'] as const) {
      const own = createDynamicInformerFactory(client, { namespace, initialList, projections });
      onTestFinished(() => own.stop());
      const ofPods = own.lister({ group: '', version: 'v1', plural: 'pods' });
      const { group, version, plural } = widgets;
      const ofWidgets = own.lister({ group, version, plural });
      own.start();
      await own.whenSynced();
      expect(ofPods.get('named-only')).toMatchObject({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { uid: pod.metadata?.uid },
        spec: { containers: [{ name: 'c' }] },
      });
      expect(ofWidgets.get('named-only')).toMatchObject({
        kind: 'Widget',
        metadata: { uid: widget.metadata?.uid },
      });
      await own.stop();
    }
    await remove(pods, 'named-only');
    await remove(widgets, 'named-only');
  });
});
