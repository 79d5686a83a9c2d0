/** Creates what is beside workloads: their storage, autoscalers, schedules and ways in, Secrets, and a custom resource. */
import {
  cronJobs,
  horizontalPodAutoscalers,
  ingresses,
  persistentVolumeClaims,
  secrets,
  storageClasses,
} from 'rx-informer/resources';
import { certificates } from './served-kinds.ts';
import { timestamp } from './timestamp.ts';
import type { World } from './world.ts';

const DAY_MS = 86_400_000;

/** The metadata of an object that exists for some days. */
export function metadataFor({ aside }: World, name: string, namespace?: string) {
  const creationTimestamp = timestamp(Date.now() - (9 + aside.below(60)) * DAY_MS);
  return { name, uid: aside.uid(), creationTimestamp, ...(namespace && { namespace }) };
}

/** A claim of storage; bound if it has a volume. */
export function createClaim(
  world: World,
  [namespace, name]: readonly [string, string],
  [storageClassName, volumeName]: readonly [string, string?],
) {
  const storage = '20Gi';
  return world.server.objects.create(persistentVolumeClaims, {
    metadata: metadataFor(world, name, namespace),
    spec: {
      ...{ accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, storageClassName },
      ...(volumeName && { volumeName }),
    },
    status: volumeName ? { phase: 'Bound', capacity: { storage } } : { phase: 'Pending' },
  });
}

/** An autoscaler of a Deployment with the given conditions. */
export function createAutoscaler(
  world: World,
  [namespace, name]: readonly [string, string],
  replicas: number,
  conditions: readonly { type: string; status: string; reason: string; message: string }[],
) {
  const cpu = (type: object) => ({ type: 'Resource', resource: { name: 'cpu', ...type } });
  const isMeasured = conditions.every(({ status }) => status === 'True');
  const current = { averageUtilization: 54, averageValue: '108m' };
  return world.server.objects.create(horizontalPodAutoscalers, {
    metadata: metadataFor(world, name, namespace),
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      ...{ minReplicas: 2, maxReplicas: 12 },
      metrics: [cpu({ target: { type: 'Utilization', averageUtilization: 70 } })],
    },
    status: {
      ...{ currentReplicas: replicas, desiredReplicas: isMeasured ? replicas : 0 },
      ...(isMeasured && { currentMetrics: [cpu({ current })] }),
      conditions: conditions.map((each) => ({
        ...each,
        lastTransitionTime: timestamp(Date.now() - DAY_MS),
      })),
    },
  } as never);
}

const measured = [
  {
    ...{ type: 'AbleToScale', status: 'True', reason: 'ReadyForNewScale' },
    message: 'recommended size matches current size',
  },
  {
    ...{ type: 'ScalingActive', status: 'True', reason: 'ValidMetricFound' },
    message:
      'the HPA was able to successfully calculate a replica count from cpu resource utilization',
  },
];

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Creates some objects of each of these kinds, all of them well. */
export function createOtherKinds(world: World): void {
  const { objects } = world.server;
  objects.create(storageClasses, {
    metadata: metadataFor(world, 'standard'),
    ...{ provisioner: 'disk.example', reclaimPolicy: 'Delete' },
  });
  for (const at of [0, 1, 2]) {
    createClaim(world, ['messaging', `data-broker-${at}`], ['standard', `pv-${at}7c41`]);
  }
  createAutoscaler(world, ['shop', 'storefront'], 4, measured);
  for (const [namespace, name, host] of [
    ['shop', 'storefront', 'shop.example'],
    ['identity', 'login', 'login.example'],
  ] as const) {
    const service = { name, port: { number: 80 } };
    objects.create(ingresses, {
      metadata: metadataFor(world, name, namespace),
      spec: {
        ingressClassName: 'public',
        rules: [
          { host, http: { paths: [{ pathType: 'Prefix', path: '/', backend: { service } }] } },
        ],
      },
      status: { loadBalancer: { ingress: [{ ip: '203.0.113.10' }] } },
    });
    objects.create(certificates, {
      metadata: metadataFor(world, name, namespace),
      spec: { secretName: `${name}-tls`, dnsNames: [host] },
      status: {
        renewalTime: timestamp(Date.now() - 3 * DAY_MS),
        conditions: [{ type: 'Ready', status: 'True', message: 'Certificate is up to date' }],
      },
    });
    objects.create(secrets, {
      metadata: metadataFor(world, `${name}-database`, namespace),
      data: { username: base64(name), password: base64(`of-${name}-42`) },
    });
  }
  for (const [namespace, name, schedule] of [
    ['analytics', 'report', '0 3 * * *'],
    ['platform', 'backup', '30 1 * * *'],
  ] as const) {
    const ranAt = timestamp(Date.now() - DAY_MS / 3);
    const containers = [{ name, image: `registry.example/${namespace}/${name}:1.4.0` }];
    objects.create(cronJobs, {
      metadata: metadataFor(world, name, namespace),
      spec: {
        schedule,
        jobTemplate: { spec: { template: { spec: { containers, restartPolicy: 'Never' } } } },
      },
      status: { lastScheduleTime: ranAt, lastSuccessfulTime: ranAt },
    } as never);
  }
}
