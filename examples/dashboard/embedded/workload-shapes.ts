/** Creates deployments, replica sets and the other controllers. `rollup.ts` keeps their status. */
import type {
  DaemonSet,
  Deployment,
  Job,
  PodTemplateSpec,
  ReplicaSet,
  StatefulSet,
} from 'rx-informer/resources';
import type { Deployment as DeploymentState, Owner } from './owners.ts';
import { containersOf, hashOf, podLabels } from './pod-shapes.ts';
import { timestamp } from './timestamp.ts';

const REVISION = 'deployment.kubernetes.io/revision';

/** The template of an owner's pods. */
export function templateOf(owner: Owner, labels: Record<string, string>): PodTemplateSpec {
  const { app, template } = owner;
  return {
    metadata: {
      labels,
      annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9090' },
    },
    spec: {
      serviceAccountName: app,
      restartPolicy: owner.kind === 'Job' ? 'Never' : 'Always',
      terminationGracePeriodSeconds: 30,
      containers: containersOf(app, template),
      ...template.pod,
    },
  };
}

function metadataOf({ name, namespace, uid, app }: Owner, createdMs: number) {
  return {
    ...{ name, namespace, uid, creationTimestamp: timestamp(createdMs) },
    labels: podLabels({ app, namespace }),
  };
}

/** The object of a new deployment. */
export function newDeployment(deployment: DeploymentState, createdMs: number): Deployment {
  const { name, namespace, uid, replicas, current, revision } = deployment;
  const labels = podLabels(current);
  return {
    metadata: {
      ...{ name, namespace, uid, labels, creationTimestamp: timestamp(createdMs) },
      annotations: { [REVISION]: String(revision) },
    },
    spec: {
      replicas,
      revisionHistoryLimit: 2,
      progressDeadlineSeconds: 600,
      selector: { matchLabels: { app: current.app } },
      strategy: {
        type: 'RollingUpdate',
        rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' },
      },
      template: templateOf(current, labels),
    },
    status: {},
  };
}

/** The deployment with the template of its current replica set. */
export function withTemplate<D extends Deployment>(deployment: D, state: DeploymentState): D {
  const { metadata, spec } = deployment;
  if (spec === undefined) return deployment;
  const annotations = { ...metadata?.annotations, [REVISION]: String(state.revision) };
  const template = templateOf(state.current, podLabels(state.current));
  return { ...deployment, metadata: { ...metadata, annotations }, spec: { ...spec, template } };
}

/** The object of a new replica set. */
export function newReplicaSet(owner: Owner, of: DeploymentState, createdMs: number): ReplicaSet {
  const hash = { 'pod-template-hash': hashOf(owner) };
  const metadata = metadataOf(owner, createdMs);
  const labels = { ...metadata.labels, ...hash };
  return {
    metadata: {
      ...metadata,
      labels,
      annotations: { [REVISION]: String(of.revision) },
      ownerReferences: [
        {
          ...{ apiVersion: 'apps/v1', kind: 'Deployment', name: of.name, uid: of.uid },
          ...{ controller: true, blockOwnerDeletion: true },
        },
      ],
    },
    spec: {
      replicas: owner.desired,
      selector: { matchLabels: { app: owner.app, ...hash } },
      template: templateOf(owner, labels),
    },
    status: { replicas: 0 },
  };
}

/** The object of a new stateful set. */
export function newStatefulSet(owner: Owner, createdMs: number): StatefulSet {
  const metadata = metadataOf(owner, createdMs);
  return {
    metadata,
    spec: {
      replicas: owner.desired,
      serviceName: owner.name,
      selector: { matchLabels: { app: owner.app } },
      template: templateOf(owner, metadata.labels),
    },
    status: { replicas: 0 },
  };
}

/** The object of a new daemon set. */
export function newDaemonSet(owner: Owner, createdMs: number): DaemonSet {
  const metadata = metadataOf(owner, createdMs);
  return {
    metadata,
    spec: {
      selector: { matchLabels: { app: owner.app } },
      template: templateOf(owner, metadata.labels),
    },
    status: {
      ...{ currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0 },
      numberReady: 0,
    },
  };
}

/** The object of a new job. */
export function newJob(owner: Owner, createdMs: number): Job {
  const metadata = metadataOf(owner, createdMs);
  const { desired } = owner;
  return {
    metadata,
    spec: {
      ...{ completions: desired, parallelism: desired, backoffLimit: 0 },
      selector: { matchLabels: { app: owner.app } },
      template: templateOf(owner, metadata.labels),
    },
    status: { startTime: timestamp(createdMs) },
  };
}
