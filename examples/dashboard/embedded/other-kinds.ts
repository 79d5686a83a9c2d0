/** The kinds that the fake server does not serve by itself, with the columns of a real one, and the objects of a file of manifests. */
import { defineResource, type KubernetesObject, type Stored } from 'rx-informer';
import {
  cronJobs,
  horizontalPodAutoscalers,
  ingresses,
  mutatingWebhookConfigurations,
  persistentVolumeClaims,
  resourceQuotas,
  secrets,
  storageClasses,
} from 'rx-informer/resources';
import type { FakeApiServer } from 'rx-informer/testing';
import { readManifests, type Words } from './manifests.ts';
import type { Random } from './random.ts';
import { timestamp } from './timestamp.ts';

const certificates = defineResource<KubernetesObject>({
  ...{ group: 'certs.example', version: 'v1', plural: 'certificates', kind: 'Certificate' },
  namespaced: true,
});

const CREATED = '.metadata.creationTimestamp';
const ready = (field: string) => `.status.conditions[?(@.type=="Ready")].${field}`;

/** The columns after the name, by their titles. A column of a custom resource without its date would be text. */
const served = [
  [horizontalPodAutoscalers, {}],
  [ingresses, {}],
  [cronJobs, {}],
  [persistentVolumeClaims, { Status: '.status.phase', Age: CREATED }],
  [storageClasses, { Provisioner: '.provisioner', ReclaimPolicy: '.reclaimPolicy', Age: CREATED }],
  [mutatingWebhookConfigurations, { Webhooks: '.webhooks[*].name', Age: CREATED }],
  [
    certificates,
    {
      ...{ Ready: ready('status'), Secret: '.spec.secretName', Renewal: '.status.renewalTime' },
      ...{ Reason: ready('message'), Age: CREATED },
    },
  ],
] as const;

const isDate = (title: string) => title === 'Age' || title === 'Renewal';

export function serveOtherKinds(server: FakeApiServer): void {
  for (const [resource, columns] of served) {
    const printerColumns = Object.entries(columns).map(([name, jsonPath]) => {
      return { name, jsonPath, type: isDate(name) ? 'date' : 'string' };
    });
    server.addResource(resource as typeof certificates, { printerColumns });
  }
}

const resources = [secrets, resourceQuotas, ...served.map(([resource]) => resource)];
const DAY_MS = 86_400_000;
const NIGHT_MS = 3 * 3_600_000;

interface Scene {
  readonly server: FakeApiServer;
  readonly aside: Random;
}

/** Creates the objects of a file. Returns the last of them. */
export function createManifests(
  { server, aside }: Scene,
  file: string,
  words: Words = {},
): Stored<KubernetesObject> {
  // At three, as a CronJob says.
  const lastNightMs = Math.floor((Date.now() - NIGHT_MS) / DAY_MS) * DAY_MS + NIGHT_MS;
  const yesterday = timestamp(Date.now() - DAY_MS);
  const known = { yesterday, lastNight: timestamp(lastNightMs), ...words };
  const made = readManifests<KubernetesObject>(file, known).map(({ kind, metadata, ...fields }) => {
    const resource = resources.find((each) => each.kind === kind) as typeof certificates;
    const creationTimestamp = timestamp(Date.now() - (9 + aside.below(60)) * DAY_MS);
    const named = { ...metadata, uid: aside.uid(), creationTimestamp };
    return server.objects.create(resource, { ...fields, metadata: named });
  });
  return made.at(-1) as Stored<KubernetesObject>;
}
