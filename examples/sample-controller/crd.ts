/** Teaches a cluster what a Foo is. */
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
    // The group belongs to Kubernetes; the server asks who has agreed.
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
        // With this, a write of the spec cannot touch the status, and the other way round.
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

/** Installs the definition where it is missing, and waits until the server serves it. */
export async function installFoo(client: KubeClient, signal?: AbortSignal): Promise<void> {
  const options = signal === undefined ? {} : { signal };
  try {
    await createResourceClient(client, customResourceDefinitions).create(definition, options);
  } catch (error) {
    // Another process was faster.
    if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
  }
  const established = and(exists, conditionTrue('Established'));
  await untilCondition(client, customResourceDefinitions, { name: NAME }, established, {
    timeoutMs: 30_000,
    ...options,
  });
}
