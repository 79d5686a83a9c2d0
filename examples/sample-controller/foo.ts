/** The custom resource of the sample controller. A Foo requests a Deployment with a number of replicas. */
import { defineResource, type KubernetesObject, type ObjectMeta, type Resource } from 'rx-informer';

export interface Foo extends KubernetesObject {
  apiVersion?: 'samplecontroller.k8s.io/v1alpha1';
  kind?: 'Foo';
  metadata: ObjectMeta;
  spec: { deploymentName: string; replicas: number };
  status?: { availableReplicas?: number };
}

export const foos: Resource<Foo> = defineResource<Foo>({
  group: 'samplecontroller.k8s.io',
  version: 'v1alpha1',
  plural: 'foos',
  kind: 'Foo',
  namespaced: true,
});
