/** The generated types against the models of `@kubernetes/client-node`, judged by the compiler. */
import type * as models from '@kubernetes/client-node';
import type * as ours from 'rx-informer/resources';
import { deployments, type Pod, pods } from 'rx-informer/resources';
import { describe, expectTypeOf, it } from 'vitest';
import type { KubernetesObject } from '../../lib/meta/kubernetes-object.ts';
import type { Resource } from '../../lib/meta/resource.ts';

/** client-node's names for fields that are words of its languages: `_from` is `from` on the wire. */
type WireName<K> = K extends `_${infer Name}` ? Name : K;

/** A model as the wire carries it: `Date` as text, names as in the JSON. */
type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer E)[]
    ? Wire<E>[]
    : T extends object
      ? { [K in keyof T as WireName<K>]: Wire<T[K]> }
      : T;

type Keys<T> = keyof Wire<NonNullable<T>>;
type Part<T, K extends string> = T extends { [P in K]?: infer V } ? NonNullable<V> : never;
type Spec<T> = Part<T, 'spec'>;
type Status<T> = Part<T, 'status'>;

/** Whether both have the same property names, in themselves and in `spec` and `status`. */
type SameNames<A, B> = [Keys<A>, Keys<Spec<A>>, Keys<Status<A>>] extends [
  Keys<B>,
  Keys<Spec<B>>,
  Keys<Status<B>>,
]
  ? [Keys<B>, Keys<Spec<B>>, Keys<Status<B>>] extends [Keys<A>, Keys<Spec<A>>, Keys<Status<A>>]
    ? true
    : false
  : false;

describe('the generated types', () => {
  it('name the properties that client-node names', () => {
    expectTypeOf<SameNames<ours.Pod, models.V1Pod>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.Deployment, models.V1Deployment>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.Service, models.V1Service>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.Node, models.V1Node>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.Job, models.V1Job>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.CronJob, models.V1CronJob>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.ConfigMap, models.V1ConfigMap>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.Secret, models.V1Secret>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.Ingress, models.V1Ingress>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.NetworkPolicy, models.V1NetworkPolicy>>().toEqualTypeOf<true>();
    expectTypeOf<
      SameNames<ours.PersistentVolumeClaim, models.V1PersistentVolumeClaim>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      SameNames<ours.CustomResourceDefinition, models.V1CustomResourceDefinition>
    >().toEqualTypeOf<true>();
    expectTypeOf<
      SameNames<ours.HorizontalPodAutoscaler, models.V2HorizontalPodAutoscaler>
    >().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.Pod, models.V1Service>>().toEqualTypeOf<false>();
    expectTypeOf<
      SameNames<ours.HorizontalPodAutoscaler, models.V1HorizontalPodAutoscaler>
    >().toEqualTypeOf<false>();
  });

  it('take what client-node has, once dates are text and names are those of the wire', () => {
    expectTypeOf<Wire<models.V1PodSpec>>().toExtend<ours.PodSpec>();
    expectTypeOf<Wire<models.V1PodStatus>>().toExtend<ours.PodStatus>();
    expectTypeOf<Wire<models.V1DeploymentSpec>>().toExtend<ours.DeploymentSpec>();
    expectTypeOf<Wire<models.V1NetworkPolicySpec>>().toExtend<ours.NetworkPolicySpec>();
    expectTypeOf<Wire<models.V1NodeStatus>>().toExtend<ours.NodeStatus>();
    // @ts-expect-error a Date is not what the wire carries
    expectTypeOf<models.V1PodStatus>().toExtend<ours.PodStatus>();
    // @ts-expect-error client-node says _from
    expectTypeOf<models.V1NetworkPolicyIngressRule>().toExtend<{
      from?: unknown;
      ports?: string;
    }>();
  });

  it('are objects of the library, and resources carry them', () => {
    expectTypeOf<Pod>().toExtend<KubernetesObject>();
    expectTypeOf(pods).toEqualTypeOf<Resource<ours.Pod>>();
    expectTypeOf(deployments).toEqualTypeOf<Resource<ours.Deployment>>();
    // @ts-expect-error pods are no deployments
    expectTypeOf(pods).toEqualTypeOf<Resource<ours.Deployment>>();
  });

  it('make literals easy and wrong ones errors', () => {
    const container = { name: 'web', image: 'nginx' };
    const pod: Pod = { metadata: { name: 'web' }, spec: { containers: [container] } };
    expectTypeOf(pod.metadata.name).toEqualTypeOf<string | undefined>();
    expectTypeOf(pod.status?.startTime).toEqualTypeOf<string | undefined>();
    // @ts-expect-error metadata is always there
    const nameless: Pod = { spec: { containers: [container] } };
    // @ts-expect-error a Pod is of v1
    const wrongVersion: Pod = { apiVersion: 'apps/v1', metadata: {} };
    // @ts-expect-error a container has a name
    const unnamed: Pod = { metadata: {}, spec: { containers: [{ image: 'nginx' }] } };
    // @ts-expect-error a number is no IntOrString array
    const port: ours.ServicePort = { port: 80, targetPort: [80] };
    // @ts-expect-error a quantity is text
    const limits: ours.ResourceRequirements = { limits: { cpu: 1 } };
    expectTypeOf([nameless, wrongVersion, unnamed, port, limits]).toBeArray();
  });
});
