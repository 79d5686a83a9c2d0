/** Templates of Deployments, ConfigMaps, Events and of a custom resource. */
import { changing, type Pod, podOf } from './pods.ts';

/** Text of the given length that is neither constant nor random noise, as in a configuration file. */
function filler(length: number, salt: number): string {
  const line = (at: number) => `option.${at}.${salt % 97} = ${(at * 7919 + salt) % 10_007}\n`;
  let text = '';
  for (let at = 0; text.length < length; at++) text += line(at);
  return text.slice(0, length);
}

/** The Pod whose metadata, spec or name the other kinds use. */
const podAt = (index: number, seed: number): Pod => podOf(index, 100, seed) as Pod;

function metadataOf(index: number, seed: number, prefix: string): object {
  const {
    generateName: _generated,
    ownerReferences: _owners,
    ...metadata
  } = podAt(index, seed).metadata;
  return changing({ ...metadata, name: `${prefix}-${index}` }, 'kubelet');
}

export function deploymentTemplate(index: number, seed: number): string {
  const { spec } = podAt(index, seed);
  const labels = { app: `checkout-${index % 500}` };
  const [container] = spec.containers;
  const condition = (type: string) => ({
    type,
    status: 'True',
    lastUpdateTime: '2026-01-05T08:30:00Z',
    lastTransitionTime: '2026-01-05T08:30:00Z',
    reason: 'NewReplicaSetAvailable',
    message: `ReplicaSet "checkout-${index}" has successfully progressed.`,
  });
  return JSON.stringify({
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: metadataOf(index, seed, 'checkout'),
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          ...spec,
          containers: [{ ...container, image: 'registry.example.com/shop/checkout:%release%' }],
        },
      },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    },
    status: {
      observedGeneration: '%%count%%',
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      conditions: [
        { ...condition('Available'), status: '%ready%', lastUpdateTime: '%statusTime%' },
        condition('Progressing'),
      ],
    },
  });
}

export function configMapTemplate(index: number, seed: number): string {
  const large = index % 20 === 0;
  const part = (salt: number) => filler(large ? 40_000 : 250, index * 31 + salt + seed);
  return JSON.stringify({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: metadataOf(index, seed, 'settings'),
    data: {
      'a.properties': part(1),
      'b.properties': part(2),
      'c.properties': part(3),
      'd.properties': part(4),
      'e.properties': part(5),
      leader: 'checkout-%count%',
      ready: '%ready% since %statusTime%',
      release: '%release%',
    },
  });
}

export function eventTemplate(index: number, seed: number): string {
  const { name, namespace, uid } = podAt(index, seed).metadata;
  return JSON.stringify({
    kind: 'Event',
    apiVersion: 'v1',
    metadata: metadataOf(index, seed, 'checkout'),
    involvedObject: {
      kind: 'Pod',
      namespace,
      name,
      uid,
      apiVersion: 'v1',
      resourceVersion: '4711',
    },
    reason: 'Unhealthy',
    message: 'Readiness probe failed: HTTP probe failed with statuscode: 503 (%release%)',
    source: { component: 'kubelet', host: `node-${index % 200}` },
    firstTimestamp: '2026-01-05T08:30:00Z',
    lastTimestamp: '%statusTime%',
    count: '%%count%%',
    type: 'Warning',
    eventTime: null,
    reportingComponent: 'kubelet',
    reportingInstance: `node-${index % 200}`,
  });
}

export function widgetTemplate(index: number, seed: number): string {
  const cells = Array.from({ length: 12 }, (_, at) => ({
    address: `10.${index % 200}.${at}.1`,
    enabled: at % 3 !== 0,
    weight: (index * 31 + at * 7) % 100,
    zone: `eu-central-1${'abc'[at % 3]}`,
  }));
  const object = {
    apiVersion: 'bench.example.com/v1',
    kind: 'Widget',
    metadata: metadataOf(index, seed, 'widget'),
    spec: { cells, release: '%release%', replicas: 3, text: filler(400, index) },
    status: {
      conditions: [
        {
          lastTransitionTime: '%statusTime%',
          message: 'all cells report',
          reason: 'CellsReport',
          status: '%ready%',
          type: 'Ready',
        },
      ],
      observedGeneration: '%%count%%',
      phase: 'Running',
    },
  };
  return JSON.stringify(alphabetical(object));
}

/** Sorts the members at every depth, except the tokens around `managedFields`, which stay beside it. */
function alphabetical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(alphabetical);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, alphabetical(each)] as const);
  const place = (key: string) =>
    ({
      '%%managed%%': 'managedFields!',
      managedFields: 'managedFields"',
      '%%unmanaged%%': 'managedFields#',
    })[key] ?? key;
  return Object.fromEntries(entries.sort(([a], [b]) => (place(a) < place(b) ? -1 : 1)));
}
