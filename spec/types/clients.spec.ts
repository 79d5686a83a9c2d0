/** The types of clients, checked by `tsc` and at run time. */
import {
  type ClientOf,
  createResourceClient,
  type KubeClient,
  type KubernetesObject,
  type Patch,
  type PodClient,
  type Resource,
  type ResourceClient,
} from 'rx-informer';
import * as resources from 'rx-informer/resources';
import { describe, expect, expectTypeOf, it } from 'vitest';

const client = {} as KubeClient;

function generic<T extends KubernetesObject>(resource: Resource<T>): ResourceClient<T> {
  return createResourceClient(client, resource);
}

describe('types of clients', () => {
  it('C1: only a client of pods has log and evict', () => {
    const pods = createResourceClient(client, resources.pods);
    expectTypeOf(pods).toEqualTypeOf<PodClient<resources.Pod>>();
    expectTypeOf(pods.namespace('shop').log).toBeFunction();
    expect(pods.namespace('shop').log).toBeTypeOf('function');
    const deployments = createResourceClient(client, resources.deployments);
    expectTypeOf(deployments).toEqualTypeOf<ResourceClient<resources.Deployment>>();
    expect('log' in deployments).toBe(false);
    expectTypeOf<ClientOf<KubernetesObject>>().toEqualTypeOf<ResourceClient<KubernetesObject>>();
    interface Kindless {
      metadata: { name: string };
    }
    expectTypeOf<ClientOf<Kindless>>().toEqualTypeOf<ResourceClient<Kindless>>();
  });

  it('C1: every built-in resource has a typed client', () => {
    const all = Object.values(resources);
    expect(all.length).toBeGreaterThan(80);
    for (const resource of all) {
      expect(generic(resource as Resource).resource).toBe(resource);
    }
    const update = createResourceClient(client, resources.configMaps).update;
    expectTypeOf(update).parameter(0).toEqualTypeOf<resources.ConfigMap>();
  });

  it('C2: the type of a strategic merge patch has the directives', () => {
    type Sent = Patch<resources.Deployment>;
    const patch: Sent = {
      strategic: {
        spec: { template: { spec: { containers: [{ name: 'c', $patch: 'delete' }] } } },
      },
    };
    const finalizers = { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] };
    const spec = { selector: {}, template: {} };
    const deployment: resources.Deployment = { metadata: { name: 'web' }, spec };
    const more: Sent[] = [{ strategic: { metadata: finalizers } }, { strategic: deployment }];
    expect(more).toHaveLength(2);
    // @ts-expect-error: no such field
    const wrong: Sent = { strategic: { spec: { replikas: 1 } } };
    expect([patch, wrong]).toHaveLength(2);
  });

  it('C12: the draft of a recipe is mutable', () => {
    const edit = createResourceClient(client, resources.deployments).edit;
    type Recipe = Parameters<typeof edit>[1];
    const recipe: Recipe = (draft) => {
      if (draft.spec) draft.spec.replicas = 3;
      draft.metadata.labels = { ...draft.metadata.labels, app: 'web' };
      // @ts-expect-error: the field is a number
      if (draft.spec) draft.spec.replicas = '3';
    };
    const deployment = { metadata: {}, spec: { replicas: 1 } };
    recipe(deployment as Parameters<Recipe>[0]);
    expect(deployment).toMatchObject({ metadata: { labels: { app: 'web' } } });
  });
});
