/** Creates pods as a cluster holds them. `pod-turns.ts` changes their status. */
import type { Container, Pod, PodSpec } from 'rx-informer/resources';
import { shapeOf } from './manifests.ts';
import type { Owner, Template } from './owners.ts';
import type { Random } from './random.ts';
import { timestamp } from './timestamp.ts';

export function podLabels({ app, namespace }: Pick<Owner, 'app' | 'namespace'>) {
  return { app, 'app.kubernetes.io/name': app, 'app.kubernetes.io/part-of': namespace };
}

/** The suffix of a replica set's name, which is also a label of its pods. */
export function hashOf({ name }: Pick<Owner, 'name'>): string {
  return name.split('-').at(-1) ?? '';
}

function containersOf(app: string, template: Template): Container[] {
  const { image, sidecar, milliCpu, memoryMi, container } = template;
  const [memory, limit] = [`${memoryMi}Mi`, `${memoryMi * 2}Mi`];
  const words = { app, image, cpu: `${milliCpu}m`, memory, limit };
  const main = { ...shapeOf<Container>('Container', words), ...container };
  return sidecar ? [main, shapeOf('Sidecar', {})] : [main];
}

/** By these annotations a monitoring system finds the pods. */
export const SCRAPED = { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9090' };

/** The specification of an owner's pods. */
export function podSpecOf({ app, kind, template }: Owner): PodSpec {
  if (template.given?.spec !== undefined) return template.given.spec;
  return {
    serviceAccountName: app,
    restartPolicy: kind === 'Job' ? 'Never' : 'Always',
    terminationGracePeriodSeconds: 30,
    containers: containersOf(app, template),
    ...template.pod,
  };
}

/** The requested CPU of a pod, in thousandths of a core. */
export function milliCpuOf({ milliCpu, sidecar }: Template): number {
  return milliCpu + (sidecar ? 50 : 0);
}

export function podName(owner: Owner, random: Random, ordinal: number): string {
  if (owner.kind === 'StatefulSet') return `${owner.name}-${ordinal}`;
  return `${owner.name}-${random.suffix(5)}`;
}

/** A new pod of an owner, not started yet. Without a node the scheduler has not found one. */
export function newPod(
  owner: Owner,
  { name, uid, node }: { name: string; uid: string; node: string | undefined },
  createdMs: number,
): Pod {
  const { kind, name: ownerName, namespace } = owner;
  const hash = kind === 'ReplicaSet' ? { 'pod-template-hash': hashOf(owner) } : {};
  const shape = shapeOf<Pod>('Pod', {
    ...{ name, namespace, uid, kind, ownerName, ownerUid: owner.uid, annotations: SCRAPED },
    apiVersion: kind === 'Job' ? 'batch/v1' : 'apps/v1',
    created: timestamp(createdMs),
    labels: { ...podLabels(owner), ...hash },
  });
  const { tolerations } = shape.spec ?? {};
  return {
    ...shape,
    metadata: {
      ...shape.metadata,
      ...(kind === 'StatefulSet' ? {} : { generateName: `${ownerName}-` }),
    },
    spec: {
      ...(node === undefined ? {} : { nodeName: node }),
      ...podSpecOf(owner),
      ...(tolerations && { tolerations }),
    },
  };
}
