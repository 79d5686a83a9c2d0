/** Installs the definition of the custom resource Foo in a cluster. */
import {
  ApiError,
  and,
  conditionTrue,
  createResourceClient,
  exists,
  type KubeClient,
  resourceName,
  untilCondition,
} from 'rx-informer';
import { type CustomResourceDefinition, customResourceDefinitions } from 'rx-informer/resources';
import { foos } from './foo.ts';

const NAME = resourceName(foos);

const definition: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: NAME,
    // The group is reserved by Kubernetes, so the server requires this annotation.
    annotations: { 'api-approved.kubernetes.io': 'unapproved, experimental-only' },
  },
  spec: {
    group: foos.group,
    scope: 'Namespaced',
    names: { plural: foos.plural, singular: 'foo', kind: foos.kind, listKind: 'FooList' },
    versions: [
      {
        name: foos.version,
        served: true,
        storage: true,
        // With the subresource, a write of the spec cannot change the status, and a write of the status cannot change
        // the spec.
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['deploymentName', 'replicas'],
                properties: {
                  deploymentName: { type: 'string', minLength: 1 },
                  replicas: { type: 'integer', minimum: 0, maximum: 10 },
                },
              },
              status: {
                type: 'object',
                properties: { availableReplicas: { type: 'integer' } },
              },
            },
          },
        },
      },
    ],
  },
};

/** Creates the definition if it is missing, and waits until the server serves Foos. */
export async function installFoo(client: KubeClient, signal?: AbortSignal): Promise<void> {
  const options = signal === undefined ? {} : { signal };
  try {
    await createResourceClient(client, customResourceDefinitions).create(definition, options);
  } catch (error) {
    // Another process may have created the definition first.
    if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
  }
  const established = and(exists, conditionTrue('Established'));
  await untilCondition(client, customResourceDefinitions, { name: NAME }, established, {
    timeoutMs: 30_000,
    ...options,
  });
}
