/** The kinds that the fake server does not serve by itself, with the columns of a real one; one of them is a custom resource. */
import { defineResource, type KubernetesObject } from 'rx-informer';
import {
  cronJobs,
  horizontalPodAutoscalers,
  ingresses,
  mutatingWebhookConfigurations,
  persistentVolumeClaims,
  storageClasses,
} from 'rx-informer/resources';
import type { FakeApiServer } from 'rx-informer/testing';

interface Certificate extends KubernetesObject {
  readonly spec: object;
  readonly status: object;
}

export const certificates = defineResource<Certificate>({
  ...{ group: 'certs.example', version: 'v1', plural: 'certificates', kind: 'Certificate' },
  namespaced: true,
});

const column = (name: string, jsonPath: string, type = 'string') => ({ name, jsonPath, type });
const age = column('Age', '.metadata.creationTimestamp', 'date');

/** Serves the kinds that the fake server does not serve by itself, with the columns of a real one. */
export function serveOtherKinds(server: FakeApiServer): void {
  for (const resource of [horizontalPodAutoscalers, ingresses, cronJobs]) {
    server.addResource(resource);
  }
  server.addResource(persistentVolumeClaims, {
    printerColumns: [
      column('Status', '.status.phase'),
      column('Volume', '.spec.volumeName'),
      column('StorageClass', '.spec.storageClassName'),
      age,
    ],
  });
  server.addResource(storageClasses, {
    printerColumns: [
      column('Provisioner', '.provisioner'),
      column('ReclaimPolicy', '.reclaimPolicy'),
      age,
    ],
  });
  server.addResource(mutatingWebhookConfigurations, {
    printerColumns: [column('Webhooks', '.webhooks[*].name'), age],
  });
  server.addResource(certificates, {
    printerColumns: [
      column('Ready', '.status.conditions[?(@.type=="Ready")].status'),
      column('Secret', '.spec.secretName'),
      column('Renewal', '.status.renewalTime', 'date'),
      column('Reason', '.status.conditions[?(@.type=="Ready")].message'),
      age,
    ],
  });
}
