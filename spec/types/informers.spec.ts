/**
 * The types of informers: they follow from the resource and the projection, with the names of indices, and those of one kind are assignable to
 * those of any object, so that code that only reads need not know the kind. Checked by `tsc`.
 */
import {
  addEventHandler,
  byNamespace,
  createDynamicInformerFactory,
  createIndexer,
  createInformerFactory,
  createLister,
  createSharedInformer,
  defineResource,
  forResource,
  type GroupVersionResource,
  type Indexer,
  type IndexerReader,
  type Informer,
  type InformerHandle,
  type KubeClient,
  type KubernetesObject,
  type Lister,
  type ListerInformer,
  type NamespaceLister,
  type PartialObjectMetadata,
  type Resource,
  type ResourceEventHandler,
  type SharedInformer,
  type Stored,
  type StoreReader,
  type TableInformer,
  type TableRow,
  type View,
} from 'rx-informer';
import { type ConfigMap, configMaps, type Pod, pods } from 'rx-informer/resources';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { projections } from '../support/projections.ts';
import {
  pod,
  type Pod as ScriptedPod,
  scriptedInformer,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';

const client = {} as KubeClient;

describe('the types of factories', () => {
  it('an informer has the type of the resource, or of the projection', () => {
    const factory = createInformerFactory(client, { projections });
    expectTypeOf(factory.informer(pods)).toEqualTypeOf<SharedInformer<Pod>>();
    expectTypeOf(factory.informer(pods, { namespace: 'a' })).toEqualTypeOf<SharedInformer<Pod>>();
    expectTypeOf(factory.informer(pods, { as: 'object' })).toEqualTypeOf<SharedInformer<Pod>>();
    const metadata = factory.informer(pods, { as: 'metadata', namespaces: ['a'] });
    expectTypeOf(metadata).toEqualTypeOf<SharedInformer<PartialObjectMetadata>>();
    expectTypeOf(factory.informer(pods, { as: 'table' })).toEqualTypeOf<TableInformer>();
    expectTypeOf(factory.lister(pods)).toEqualTypeOf<Lister<Pod>>();
    expectTypeOf(factory.lister(pods, { as: 'table' })).toEqualTypeOf<Lister<TableRow>>();
    const handle = factory.acquire(pods, { as: 'table' });
    expectTypeOf(handle).toEqualTypeOf<InformerHandle<TableRow, TableInformer>>();
    expectTypeOf(factory.acquire(pods).lister.list()).toEqualTypeOf<readonly Stored<Pod>[]>();
  });

  it('an informer has the type KubernetesObject if only the name of the resource is known', () => {
    const gvr = { group: '', version: 'v1', plural: 'pods' };
    const factory = createDynamicInformerFactory(client, { projections });
    expectTypeOf(factory.informer(gvr)).toEqualTypeOf<SharedInformer<KubernetesObject>>();
    expectTypeOf(factory.lister(gvr, { as: 'metadata' })).toEqualTypeOf<
      Lister<PartialObjectMetadata>
    >();
    expectTypeOf(factory.informer(gvr, { as: 'table' })).toEqualTypeOf<TableInformer>();
  });

  it('the settings of a resource have the type of the resource', () => {
    forResource(pods, {
      transform: (pod) => {
        expectTypeOf(pod).toEqualTypeOf<Pod>();
        return pod;
      },
      indexers: { node: ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []) },
    });
    // @ts-expect-error: a Pod has no such field
    forResource(pods, { indexers: { no: ({ replicas }) => [replicas] } });
    // @ts-expect-error: object, metadata or table
    const rows = () => createInformerFactory(client).informer(pods, { as: 'rows' });
    expect(rows).toThrow(TypeError);
  });
});

const byNode = ({ spec }: Pod) => (spec?.nodeName ? [spec.nodeName] : []);

describe('the names of indices', () => {
  it('S54: a store and its readers accept only the names of their indices', () => {
    const indexer = createIndexer({ indexers: { byNode, namespace: byNamespace } });
    expectTypeOf(indexer).toEqualTypeOf<Indexer<Pod, 'byNode' | 'namespace'>>();
    expect(indexer.byIndex('byNode', 'a')).toEqual([]);
    // @ts-expect-error: there is no such index
    expect(() => indexer.byIndex('byNod', 'a')).toThrow(/"byNod" does not exist/);
    // @ts-expect-error: there is no such index
    expect(() => indexer.indexKeys('byNod', 'a')).toThrow(TypeError);
    // @ts-expect-error: there is no such index
    expect(() => indexer.listIndexFuncValues('byNod')).toThrow(TypeError);
    // @ts-expect-error: there is no such index
    expect(() => indexer.snapshot$.value.byIndex('byNod', 'a')).toThrow(TypeError);
    const more = indexer.addIndexers({ byUid: ({ metadata }) => [metadata.uid] });
    expect(more).toBe(indexer);
    expect([more.byIndex('byUid', 'u'), more.byIndex('byNode', 'a')]).toEqual([[], []]);
    // @ts-expect-error: the first variable does not have the type with the added name
    expect(indexer.byIndex('byUid', 'u')).toEqual([]);
    expectTypeOf(indexer).toExtend<Indexer<Pod>>();
  });

  it('S54: an informer and a lister accept only the names of their indices', () => {
    const informer = createSharedInformer(scriptedListWatch(), {
      indexers: { byApp: ({ metadata }) => [metadata.labels?.app ?? ''] },
    });
    expectTypeOf(informer).toEqualTypeOf<SharedInformer<ScriptedPod, 'byApp'>>();
    expectTypeOf(informer).toExtend<SharedInformer<KubernetesObject>>();
    expect(informer.indexer.byIndex('byApp', 'web')).toEqual([]);
    // @ts-expect-error: there is no such index
    expect(() => informer.indexer.byIndex('byAp', 'web')).toThrow(TypeError);
    const lister = createLister(informer, { group: '', version: 'v1', plural: 'pods' });
    expectTypeOf(lister).toEqualTypeOf<Lister<ScriptedPod, 'byApp'>>();
    // @ts-expect-error: there is no such index
    expect(() => lister.byIndex('byAp', 'web')).toThrow(TypeError);
  });

  it('S54: if the names of the indices are not known, every string is accepted', () => {
    expectTypeOf(createIndexer<Pod>({ indexers: { byNode } })).toEqualTypeOf<Indexer<Pod>>();
    expectTypeOf(createInformerFactory({} as KubeClient).informer(pods)).toEqualTypeOf<
      SharedInformer<Pod>
    >();
    expect(() => createIndexer<Pod>().byIndex('none', 'a')).toThrow(TypeError);
  });
});

interface Widget extends KubernetesObject {
  spec: { size: number };
}
const widgets = defineResource<Widget>({
  ...{ group: 'example.com', version: 'v1', plural: 'widgets' },
  ...{ kind: 'Widget', namespaced: true },
});

const informerPods = defineResource<ScriptedPod>({
  ...{ group: '', version: 'v1', plural: 'pods' },
  ...{ kind: 'Pod', namespaced: true },
});

/** The number of objects of an informer of any kind. */
function sizeOf(informer: SharedInformer<KubernetesObject>): number {
  return informer.indexer.list().length;
}

describe('types for reading', () => {
  it('I66: an informer, a store or a lister of one kind is assignable to one of any object, and not vice versa', async () => {
    expectTypeOf<SharedInformer<Widget>>().toExtend<SharedInformer<KubernetesObject>>();
    expectTypeOf<SharedInformer<Pod>>().toExtend<SharedInformer<KubernetesObject>>();
    expectTypeOf<Informer<Widget>>().toExtend<Informer<KubernetesObject>>();
    expectTypeOf<IndexerReader<Widget>>().toExtend<IndexerReader<KubernetesObject>>();
    expectTypeOf<StoreReader<Widget>>().toExtend<StoreReader<KubernetesObject>>();
    expectTypeOf<ListerInformer<Widget>>().toExtend<ListerInformer<KubernetesObject>>();
    expectTypeOf<Lister<Widget>>().toExtend<Lister<KubernetesObject>>();
    expectTypeOf<NamespaceLister<Widget>>().toExtend<NamespaceLister<KubernetesObject>>();
    expectTypeOf<View<Widget>>().toExtend<View<KubernetesObject>>();
    expectTypeOf<InformerHandle<Widget>>().toExtend<InformerHandle<KubernetesObject>>();
    expectTypeOf<Resource<Widget>>().toExtend<Resource<KubernetesObject>>();

    expectTypeOf<SharedInformer<KubernetesObject>>().not.toExtend<SharedInformer<Widget>>();
    expectTypeOf<SharedInformer<Pod>>().not.toExtend<SharedInformer<Widget>>();
    expectTypeOf<SharedInformer<Pod>>().not.toExtend<SharedInformer<ConfigMap>>();
    expectTypeOf<Lister<KubernetesObject>>().not.toExtend<Lister<Widget>>();

    const { source, informer } = scriptedInformer();
    const informers: Record<string, SharedInformer<KubernetesObject>> = { pods: informer };
    source.listed(1, pod('a', 1));
    informer.start();
    await informer.whenSynced();
    expect(Object.values(informers).map(sizeOf)).toEqual([1]);
  });

  it('I66: a handler of any object is assignable to a handler of one kind; an index function of another kind is not', () => {
    const informer = createSharedInformer(scriptedListWatch());
    const onAny: ResourceEventHandler<KubernetesObject> = {};
    expect(addEventHandler(informer, onAny).hasSynced).toBe(false);
    const indexOfWidgets = (widget: Widget) => [String(widget.spec.size)];
    // @ts-expect-error: a Pod has no such spec
    createSharedInformer<Pod>(scriptedListWatch() as never, { indexers: { indexOfWidgets } });
    const copied = createIndexer<Pod>({ indexers: createIndexer<Pod>().getIndexers() });
    expectTypeOf(copied).toEqualTypeOf<Indexer<Pod>>();
  });
});

describe('a lister', () => {
  const store = <T extends KubernetesObject>() => createIndexer<T>();

  it('L11: a lister has the type of its informer or store, and accepts a resource of this type or of any object', () => {
    const gvr: GroupVersionResource = { group: '', version: 'v1', plural: 'pods' };
    const dynamic = defineResource({ ...gvr, kind: 'Pod', namespaced: true });
    expectTypeOf(createLister(store<Pod>(), pods)).toEqualTypeOf<Lister<Pod>>();
    expectTypeOf(createLister(store<Pod>(), gvr)).toEqualTypeOf<Lister<Pod>>();
    expectTypeOf(createLister(store<Pod>(), { ...gvr, namespaced: true })).toEqualTypeOf<
      Lister<Pod>
    >();
    expectTypeOf(createLister(store<Pod>(), dynamic)).toEqualTypeOf<Lister<Pod>>();
    expectTypeOf(createLister(store(), pods)).toEqualTypeOf<Lister<KubernetesObject>>();
    expectTypeOf(createLister(store<Widget>(), widgets)).toEqualTypeOf<Lister<Widget>>();
    // A projection of the objects has the resource of the objects, too.
    expectTypeOf(createLister(store<PartialObjectMetadata>(), pods)).toEqualTypeOf<
      Lister<PartialObjectMetadata>
    >();
    expectTypeOf(createLister(store<TableRow>(), pods)).toEqualTypeOf<Lister<TableRow>>();
    const ofAny = <T extends KubernetesObject>(informer: SharedInformer<T>, of: Resource<T>) =>
      createLister(informer, of, { onWarning: () => {} });
    const informer = createSharedInformer(scriptedListWatch());
    expect(ofAny(informer, informerPods).list()).toEqual([]);
  });

  it('L11: a lister does not accept the resource of other objects', () => {
    const informer = {} as SharedInformer<Pod>;
    const made = [
      // @ts-expect-error: the informer contains Pods
      () => createLister(informer, configMaps),
      // @ts-expect-error: the store contains ConfigMaps
      () => createLister(store<ConfigMap>(), pods),
      // @ts-expect-error: the store contains Widgets
      () => createLister(store<Widget>(), pods),
    ];
    expect(made).toHaveLength(3);
  });
});
