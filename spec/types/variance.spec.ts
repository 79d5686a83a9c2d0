/**
 * An informer, a store or a lister of one kind is assignable to one of any object, so that code that only reads need
 * not know the kind. Checked by `tsc`.
 */
import {
  addEventHandler,
  createIndexer,
  createLister,
  createSharedInformer,
  defineResource,
  type GroupVersionResource,
  type Indexer,
  type IndexerReader,
  type Informer,
  type InformerHandle,
  type KubernetesObject,
  type Lister,
  type ListerInformer,
  type NamespaceLister,
  type PartialObjectMetadata,
  type Resource,
  type ResourceEventHandler,
  type SharedInformer,
  type StoreReader,
  type TableRow,
  type View,
} from 'rx-informer';
import { type ConfigMap, configMaps, type Pod, pods } from 'rx-informer/resources';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { pod, type Pod as ScriptedPod, scriptedListWatch } from '../support/scripted-list-watch.ts';

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

    const source = scriptedListWatch();
    const informer = createSharedInformer(source);
    const informers: Record<string, SharedInformer<KubernetesObject>> = { pods: informer };
    source.listed(1, pod('a', 1));
    informer.start();
    await informer.whenSynced();
    expect(Object.values(informers).map(sizeOf)).toEqual([1]);
    await informer.stop();
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
