/** Informers of dynamic resources, of metadata and of tables, compared with client-go's factories for these. */
import {
  addEventHandler,
  createDynamicInformerFactory,
  createInformerFactory,
  createLiveQueries,
  createTableListWatch,
  type DynamicInformerFactory,
  defineResource,
  type InformerFactoryOptions,
  type KubernetesObject,
  liveQuery,
  namespaceFallback,
  type SharedInformer,
  type TableColumn,
  type TableRow,
} from 'rx-informer';
import { nodes, pods } from 'rx-informer/resources';
import { describe, expect, it, onTestFinished } from 'vitest';
import { projections } from '../support/projections.ts';
import { place, type Rig, rig } from './rig.ts';

const gvr = { group: '', version: 'v1', plural: 'pods' };

function dynamic(
  { client, time }: Rig,
  options: InformerFactoryOptions = {},
): DynamicInformerFactory {
  const factory = createDynamicInformerFactory(client, {
    scheduler: time,
    projections,
    ...options,
  });
  onTestFinished(() => factory.stop());
  return factory;
}

/** The notifications that a handler of the informer receives, as text. */
function notificationsOf<T extends KubernetesObject>(
  informer: SharedInformer<T>,
  show: (object: T) => string,
) {
  const events: string[] = [];
  addEventHandler(informer, {
    onAdd: (object) => events.push(`add ${show(object)}`),
    onUpdate: (previous, object) => events.push(`update ${show(previous)} > ${show(object)}`),
    onDelete: ({ object }) => events.push(`delete ${show(object)}`),
  });
  return events;
}

/** Creates, changes and deletes one pod, each step after the previous one was observed. */
async function live<T extends KubernetesObject>(
  { server, until }: Rig,
  informer: SharedInformer<T>,
) {
  const key = 'shop/one';
  const made = server.objects.create(pods, {
    metadata: place('one'),
    status: { phase: 'Pending' },
  });
  const seen = (version: string) => until(informer.whenObserved(key, version));
  await seen(made.metadata.resourceVersion);
  const moved = server.objects.modify(pods, place('one'), (pod) => {
    pod.status = { phase: 'Running' };
  });
  await seen(moved.metadata.resourceVersion);
  server.objects.delete(pods, place('one'));
  await until(informer.whenObserved(key, { uid: made.metadata.uid, deleted: true }));
}

describe('a dynamic factory', () => {
  it('G11: serves any group, version and plural: add, update, delete (TestDynamicSharedInformerFactory)', async () => {
    const all = rig();
    const factory = dynamic(all, { fieldSelector: 'metadata.name=one' });
    const informer = factory.informer(gvr);
    const events = notificationsOf(informer, (object) => {
      const { phase } = (object as { status: { phase: string } }).status;
      return `${object.apiVersion} ${object.kind} ${phase}`;
    });
    factory.start();
    await all.until(factory.whenSynced());
    await live(all, informer);
    expect(events).toEqual([
      'add v1 Pod Pending',
      'update v1 Pod Pending > v1 Pod Running',
      'delete v1 Pod Running',
    ]);
  });

  const cases: [string, InformerFactoryOptions, boolean][] = [
    ['another namespace', { namespace: 'till' }, false],
    ['its namespace', { namespace: 'shop' }, true],
    [
      'another name',
      { tweak: (query) => Object.assign(query, { fieldSelector: 'metadata.name=no' }) },
      false,
    ],
    [
      'its name',
      { tweak: (query) => Object.assign(query, { fieldSelector: 'metadata.name=one' }) },
      true,
    ],
    [
      'another label',
      { tweak: (query) => Object.assign(query, { labelSelector: 'app=no' }) },
      false,
    ],
    ['its label', { tweak: (query) => Object.assign(query, { labelSelector: 'app=one' }) }, true],
  ];
  it.each(cases)(
    'G8: serves an informer that is restricted to %s (TestFilteredDynamicSharedInformerFactory)',
    async (_, options, isHeard) => {
      const all = rig();
      const factory = dynamic(all, options);
      const informer = factory.informer(gvr);
      factory.start();
      await all.until(factory.whenSynced());
      const added: string[] = [];
      addEventHandler(informer, {
        onAdd: ({ metadata }, { isInInitialList }) => {
          if (!isInInitialList) added.push(metadata?.name ?? '');
        },
      });
      all.server.objects.create(pods, { metadata: { ...place('one'), labels: { app: 'one' } } });
      await all.time.advance(1_000);
      expect(added).toEqual(isHeard ? ['one'] : []);
    },
  );

  it('G11: takes the kind of the list if items have none, shares with a Resource, and stops one informer', async () => {
    const all = rig();
    const factory = dynamic(all, { initialList: 'pages' });
    const lister = factory.lister(gvr, { namespace: 'shop' });
    const cluster = factory.lister({ group: '', version: 'v1', plural: 'nodes' });
    expect(factory.informer(pods)).toBe(factory.informer(gvr));
    factory.start();
    await all.until(factory.whenSynced());
    expect(lister.get('web-0').kind).toBe('Pod');
    expect(cluster.get('node-0').kind).toBe('Node');
    expect(() => lister.get('no')).toThrow('pods "no" not found');
    await factory.stop(gvr);
    expect(factory.informers).toEqual(['pods/shop', 'nodes']);
    expect(() => factory.informer({ group: '', version: 'v1', plural: '' })).toThrow(TypeError);
  });

  it('G11: reports a resource that does not exist yet, and lists it once it exists (late ForResource)', async () => {
    const all = rig();
    const widgets = defineResource({
      group: 'example.com',
      version: 'v1',
      plural: 'widgets',
      kind: 'Widget',
      namespaced: true,
    });
    const factory = dynamic(all, { name: 'late' });
    factory.start();
    const lister = factory.lister({ group: 'example.com', version: 'v1', plural: 'widgets' });
    await expect(all.until(factory.whenSynced())).rejects.toThrow(
      /^late\/widgets.example.com is not synced: late\/widgets.example.com \(no-such-resource/,
    );
    const limit = { timeoutMs: 60_000, whileBlocked: 'wait' } as const;
    await expect(all.until(factory.whenSynced(limit))).rejects.toThrow(
      /^late\/widgets.example.com is not synced after 60000 ms: late\/widgets.example.com \(no-such-resource/,
    );
    all.server.addResource(widgets);
    all.server.objects.create(widgets, { metadata: place('w') });
    await all.until(factory.whenSynced({ whileBlocked: 'wait' }));
    expect(lister.get('shop/w').kind).toBe('Widget');
    const { informer } = factory.acquire({
      group: 'example.com',
      version: 'v1',
      plural: 'widgets',
    });
    await factory.stop(widgets);
    expect(informer.isStopped).toBe(true);
  });
});

describe('metadata', () => {
  it('G12: receives add, update and delete, and stores nothing but metadata (TestMetadataSharedInformerFactory)', async () => {
    for (const initialList of ['stream', 'pages'] as const) {
      const all = rig();
      const factory = all.factory({ initialList, fieldSelector: 'metadata.name=one' });
      const informer = factory.informer(pods, { as: 'metadata' });
      const events = notificationsOf(informer, (object) => Object.keys(object).sort().join());
      factory.start();
      await all.until(factory.whenSynced());
      await live(all, informer);
      const shape = 'apiVersion,kind,metadata';
      expect(events).toEqual([`add ${shape}`, `update ${shape} > ${shape}`, `delete ${shape}`]);
    }
  });

  it('G12: metadata of several namespaces can be read by lister, index and handle', async () => {
    const all = rig();
    const factory = all.factory({ namespaces: ['shop', 'till'] });
    const lister = factory.lister(pods, { as: 'metadata' });
    const handle = factory.acquire(pods, { as: 'metadata' });
    factory.start();
    await all.until(factory.whenSynced());
    expect(lister.list('app=web')).toHaveLength(2);
    expect(lister.namespace('till').get('web-0')).toMatchObject({
      apiVersion: 'meta.k8s.io/v1',
      kind: 'PartialObjectMetadata',
    });
    expect(handle.lister).toBe(lister);
    handle.release();
  });
});

describe('tables', () => {
  it('G12: rows as kubectl get prints them, in an ordinary store; a late subscriber gets the columns synchronously', async () => {
    for (const initialList of ['stream', 'pages'] as const) {
      const all = rig();
      const factory = all.factory({ initialList, namespaces: ['shop', 'till'] });
      const informer = factory.informer(pods, { as: 'table' });
      const lister = factory.lister(pods, { as: 'table' });
      const early: string[][] = [];
      const names = (columns: readonly TableColumn[]) => columns.map(({ name }) => name);
      informer.columns$.subscribe((columns) => early.push(names(columns)));
      expect(all.server.requests).toEqual([]);
      factory.start();
      await all.until(factory.whenSynced());
      // The table is the same for both namespaces.
      expect(early).toHaveLength(1);
      expect(early[0]).toEqual(expect.arrayContaining(['Name', 'Status']));
      const cell = (row: TableRow, column: string) => row.cells[early[0]?.indexOf(column) ?? -1];
      const late: string[][] = [];
      informer.columns$.subscribe((columns) => late.push(names(columns)));
      expect(late).toEqual(early);
      expect(lister.get('till/web-0')).toMatchObject({
        apiVersion: 'meta.k8s.io/v1',
        kind: 'TableRow',
        metadata: { labels: { app: 'web', of: 'till' } },
      });
      expect(cell(lister.get('till/web-0'), 'Status')).toBe('Running');
      const events = notificationsOf(
        informer,
        (row) => `${cell(row, 'Name')} ${cell(row, 'Status')}`,
      );
      await live(all, informer);
      expect(events.slice(-3)).toEqual([
        'add one Pending',
        'update one Pending > one Running',
        'delete one Running',
      ]);
      expect(informer.status).toMatchObject({ phase: 'watching', refusedItems: 0 });
      expect(all.server.requests.every(({ query }) => query.includeObject === 'Metadata')).toBe(
        true,
      );
    }
  });

  it('G12: columns are kept over a restart, and nodes have their own columns', async () => {
    const all = rig();
    const factory = all.factory();
    const { informer } = factory.acquire(nodes, { as: 'table' });
    factory.start();
    await all.until(factory.whenSynced());
    await factory.stop();
    factory.start();
    await all.until(factory.whenSynced());
    const columns: number[] = [];
    informer.columns$.subscribe((sent) => columns.push(sent.length));
    expect(columns).toHaveLength(1);
    expect(columns[0]).toBeGreaterThan(1);
    expect(informer.indexer.list().map(({ cells }) => cells[0])).toEqual(['node-0']);
  });

  it('G21: without the maker of a projection the error says what to pass', () => {
    const { client } = rig();
    const factory = createInformerFactory(client, { projections: { table: createTableListWatch } });
    expect(() => factory.informer(pods, { as: 'metadata' })).toThrow(
      "as is 'metadata', but the factory has no projections.metadata; pass projections: { metadata: createMetadataListWatch }",
    );
    const queries = createLiveQueries(factory);
    expect(() => queries.view(liveQuery({ from: pods, as: 'metadata' }))).toThrow(TypeError);
    expect(() => createInformerFactory(client).informer(pods, { as: 'table' })).toThrow(
      'pass projections: { table: createTableListWatch }',
    );
    const odd = createInformerFactory(client, { projections: { metadata: true as never } });
    expect(() => odd.informer(pods, { as: 'metadata' })).toThrow(
      'pass projections: { metadata: createMetadataListWatch }',
    );
    // What reads the metadata from elsewhere may still leave a part to the API server.
    const elsewhere = createInformerFactory(client, { listWatch: () => undefined });
    expect(() => elsewhere.informer(pods, { as: 'metadata' })).toThrow(TypeError);
    expect(factory.informers).toEqual([]);
  });

  it('G17: another value than namespaceFallback() is refused', () => {
    const { client } = rig();
    expect(() => createInformerFactory(client, { namespaceFallback: true as never })).toThrow(
      'namespaceFallback is true; it must be what namespaceFallback() returns, or left out',
    );
    // The function itself would be called with the informer that it replaces.
    const factory = createInformerFactory(client, {
      namespaceFallback: namespaceFallback as never,
    });
    expect(() => factory.informer(pods)).toThrow(
      /^namespaceFallback: namespaces is \{.*; it must be a list of names/,
    );
  });
});
