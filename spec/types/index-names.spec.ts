/** The types of index names, checked by `tsc`. */
import {
  byNamespace,
  createIndexer,
  createInformerFactory,
  createLister,
  createSharedInformer,
  type Indexer,
  type KubeClient,
  type KubernetesObject,
  type Lister,
  type SharedInformer,
} from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { type Pod as ScriptedPod, scriptedListWatch } from '../support/scripted-list-watch.ts';

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
