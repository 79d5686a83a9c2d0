/** Creates pods as a cluster holds them, and changes their status. */
import type { Stored } from 'rx-informer';
import type { Pod } from 'rx-informer/resources';
import type { Random } from './random.ts';

/** The owner of pods. */
export interface Owner {
  readonly kind: 'ReplicaSet' | 'StatefulSet' | 'DaemonSet' | 'Job';
  readonly name: string;
  readonly namespace: string;
  readonly app: string;
  readonly image: string;
  readonly sidecar: boolean;
  readonly uid: string;
}

/** The finalizer that keeps a pod while it terminates, as a kubelet would. */
export const STOPPING = 'embedded.example/stopping';

/** A transition of a pod. */
export type PodTurn =
  | { readonly to: 'creating' | 'starting' | 'running' | 'crashed' | 'backing-off' | 'completed' }
  | { readonly to: 'waiting' | 'failed'; readonly reason: string; readonly message: string };

/** A new pod of an owner on a node, not started yet. */
export function newPod(owner: Owner, node: string, random: Random, createdMs: number): Pod {
  const { namespace, app, image } = owner;
  const name = `${owner.name}-${random.suffix(5)}`;
  return {
    metadata: {
      name,
      namespace,
      creationTimestamp: new Date(createdMs).toISOString().replace(/\.\d+Z$/, 'Z'),
      labels: {
        app,
        'app.kubernetes.io/name': app,
        'app.kubernetes.io/part-of': namespace,
        'pod-template-hash': owner.name.split('-').at(-1) ?? '',
      },
      annotations: {
        'kubectl.kubernetes.io/restartedAt': '2026-11-01T08:00:00Z',
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': '9090',
      },
      ownerReferences: [
        {
          apiVersion: owner.kind === 'Job' ? 'batch/v1' : 'apps/v1',
          kind: owner.kind,
          name: owner.name,
          uid: owner.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      finalizers: [STOPPING],
    },
    spec: {
      nodeName: node,
      serviceAccountName: app,
      restartPolicy: owner.kind === 'Job' ? 'Never' : 'Always',
      terminationGracePeriodSeconds: 30,
      containers: containersOf(owner, image),
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
        { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
      ],
    },
    status: { phase: 'Pending' },
  };
}

function containersOf(owner: Owner, image: string) {
  const main = {
    name: owner.app,
    image,
    ports: [{ name: 'http', containerPort: 8080 }],
    env: [
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'LOG_LEVEL', value: 'info' },
    ],
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
    readinessProbe: { httpGet: { path: '/healthz', port: 'http' }, periodSeconds: 10 },
  };
  if (!owner.sidecar) return [main];
  return [main, { name: 'proxy', image: 'registry.example/mesh/proxy:1.24.1' }];
}

const at = (nowMs: number) => new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z');

function stateOf(turn: PodTurn, nowMs: number) {
  switch (turn.to) {
    case 'creating':
      return { waiting: { reason: 'ContainerCreating' } };
    case 'waiting':
      return { waiting: { reason: turn.reason, message: turn.message } };
    case 'backing-off':
      return {
        waiting: {
          reason: 'CrashLoopBackOff',
          message: 'back-off 5m0s restarting failed container',
        },
      };
    case 'starting':
    case 'running':
      return { running: { startedAt: at(nowMs) } };
    case 'crashed':
      return { terminated: { exitCode: 1, reason: 'Error', finishedAt: at(nowMs) } };
    case 'failed':
      return { terminated: { exitCode: 137, reason: turn.reason, finishedAt: at(nowMs) } };
    case 'completed':
      return { terminated: { exitCode: 0, reason: 'Completed', finishedAt: at(nowMs) } };
  }
}

const phases: Readonly<Record<PodTurn['to'], string>> = {
  creating: 'Pending',
  waiting: 'Pending',
  starting: 'Running',
  running: 'Running',
  crashed: 'Running',
  'backing-off': 'Running',
  failed: 'Failed',
  completed: 'Succeeded',
};

/** The pod after a transition. Only the first container fails; a back-off counts as a restart. */
export function turned(pod: Stored<Pod>, turn: PodTurn, nowMs: number): Stored<Pod> {
  const before = pod.status?.containerStatuses ?? [];
  const ready = turn.to === 'running';
  const ended = turn.to === 'completed' || turn.to === 'failed';
  const condition = (type: string, holds: boolean) => ({
    type,
    status: holds ? 'True' : 'False',
    lastTransitionTime: at(nowMs),
  });
  return {
    ...pod,
    status: {
      phase: phases[turn.to],
      conditions: [
        condition('PodScheduled', true),
        condition('Initialized', true),
        condition('ContainersReady', ready),
        condition('Ready', ready),
      ],
      hostIP: pod.status?.hostIP ?? '10.0.0.1',
      startTime: pod.status?.startTime ?? at(nowMs),
      containerStatuses: (pod.spec?.containers ?? []).map(({ name, image = '' }, index) => ({
        name,
        image,
        imageID: `${image}@sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0`,
        ready: index === 0 ? ready : turn.to !== 'creating' && !ended,
        started: turn.to !== 'creating',
        restartCount:
          (before[index]?.restartCount ?? 0) + (index === 0 && turn.to === 'backing-off' ? 1 : 0),
        state:
          index === 0 || ended || turn.to === 'creating' ? stateOf(turn, nowMs) : { running: {} },
      })),
    },
  };
}
