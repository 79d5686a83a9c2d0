/** The resource that the sample controller is about: a Foo wants a Deployment with so many replicas. */
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
