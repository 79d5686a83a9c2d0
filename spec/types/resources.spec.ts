/** Compares the generated types with the models of `@kubernetes/client-node`. Checked by `tsc`. */
import type * as models from '@kubernetes/client-node';
import type { KubernetesObject, Resource } from 'rx-informer';
import type * as ours from 'rx-informer/resources';
import { deployments, type Pod, pods } from 'rx-informer/resources';
import { describe, expectTypeOf, it } from 'vitest';

/** client-node's names for fields that are keywords of its languages: `_from` is `from` on the wire. */
type WireName<K> = K extends `_${infer Name}` ? Name : K;

/** A model as it is on the wire: a `Date` is a string, and names are those of the JSON. */
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

type Names<T, Except> = [Keys<T>, Exclude<Keys<Spec<T>>, Except>, Exclude<Keys<Status<T>>, Except>];

/**
 * Whether two types have the same property names, and so have their `spec` and `status`, except for those that are newer
 * than client-node's models.
 */
type SameNames<A, B, New = never> =
  Names<A, New> extends Names<B, New>
    ? Names<B, New> extends Names<A, New>
      ? true
      : false
    : false;

describe('the generated types', () => {
  it('the generated types have the same property names as those of client-node', () => {
    expectTypeOf<
      SameNames<ours.Pod, models.V1Pod, 'evictionResponders' | 'volumeHealth'>
    >().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.Deployment, models.V1Deployment>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.Service, models.V1Service>>().toEqualTypeOf<true>();
    expectTypeOf<
      SameNames<ours.Node, models.V1Node, 'podPreemptionPolicy' | 'runningInUserNamespace'>
    >().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.Job, models.V1Job, 'scheduling'>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.CronJob, models.V1CronJob>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.ConfigMap, models.V1ConfigMap>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.Secret, models.V1Secret>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.Ingress, models.V1Ingress>>().toEqualTypeOf<true>();
    expectTypeOf<SameNames<ours.NetworkPolicy, models.V1NetworkPolicy>>().toEqualTypeOf<true>();
    expectTypeOf<
      SameNames<ours.PersistentVolumeClaim, models.V1PersistentVolumeClaim, 'healthStatus'>
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

  it('objects of client-node are assignable to the generated types if they have the form of the wire', () => {
    expectTypeOf<Wire<models.V1PodSpec>>().toExtend<ours.PodSpec>();
    expectTypeOf<Wire<models.V1PodStatus>>().toExtend<ours.PodStatus>();
    expectTypeOf<Wire<models.V1DeploymentSpec>>().toExtend<ours.DeploymentSpec>();
    expectTypeOf<Wire<models.V1NetworkPolicySpec>>().toExtend<ours.NetworkPolicySpec>();
    expectTypeOf<Wire<models.V1NodeStatus>>().toExtend<ours.NodeStatus>();
    // @ts-expect-error: a date is a string on the wire
    expectTypeOf<models.V1PodStatus>().toExtend<ours.PodStatus>();
    // @ts-expect-error: the name in client-node is _from
    expectTypeOf<models.V1NetworkPolicyIngressRule>().toExtend<{
      from?: unknown;
      ports?: string;
    }>();
  });

  it('the generated types are Kubernetes objects, and the resources have these types', () => {
    expectTypeOf<Pod>().toExtend<KubernetesObject>();
    expectTypeOf(pods).toEqualTypeOf<Resource<ours.Pod>>();
    expectTypeOf(deployments).toEqualTypeOf<Resource<ours.Deployment>>();
    // @ts-expect-error: pods are not deployments
    expectTypeOf(pods).toEqualTypeOf<Resource<ours.Deployment>>();
  });

  it('valid literals compile, and invalid ones do not', () => {
    const container = { name: 'web', image: 'nginx' };
    const pod: Pod = { metadata: { name: 'web' }, spec: { containers: [container] } };
    expectTypeOf(pod.metadata.name).toEqualTypeOf<string | undefined>();
    expectTypeOf(pod.status?.startTime).toEqualTypeOf<string | undefined>();
    // @ts-expect-error: metadata is required
    const nameless: Pod = { spec: { containers: [container] } };
    // @ts-expect-error: the apiVersion of a Pod is v1
    const wrongVersion: Pod = { apiVersion: 'apps/v1', metadata: {} };
    // @ts-expect-error: a container has a name
    const unnamed: Pod = { metadata: {}, spec: { containers: [{ image: 'nginx' }] } };
    // @ts-expect-error: a number is not an IntOrString array
    const port: ours.ServicePort = { port: 80, targetPort: [80] };
    // @ts-expect-error: a quantity is a string
    const limits: ours.ResourceRequirements = { limits: { cpu: 1 } };
    expectTypeOf([nameless, wrongVersion, unnamed, port, limits]).toBeArray();
  });
});
