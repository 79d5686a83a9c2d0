/** The types of the informers of a factory, which follow from the resource and the projection. */
import {
  createDynamicInformerFactory,
  createInformerFactory,
  forResource,
  type InformerHandle,
  type KubeClient,
  type KubernetesObject,
  type Lister,
  type PartialObjectMetadata,
  type SharedInformer,
  type Stored,
  type TableInformer,
  type TableRow,
} from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { projections } from '../support/projections.ts';

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
