/** Creates deployments, replica sets and the other controllers. `rollup.ts` keeps their status. */
import type { Deployment, PodTemplateSpec } from 'rx-informer/resources';
import { shapeOf } from './manifests.ts';
import type { Deployment as DeploymentState, Owner } from './owners.ts';
import { hashOf, podLabels, podSpecOf, SCRAPED } from './pod-shapes.ts';
import { timestamp } from './timestamp.ts';

const REVISION = 'deployment.kubernetes.io/revision';

function templateOf(owner: Owner, labels: Record<string, string>): PodTemplateSpec {
  const { given } = owner.template;
  if (given !== undefined && owner.kind === 'ReplicaSet') {
    return { ...given, metadata: { ...given.metadata, labels } };
  }
  return { metadata: { labels, annotations: SCRAPED }, spec: podSpecOf(owner) };
}

/** Whether a replica set was made of a template. */
export function isTemplateOf(template: PodTemplateSpec, owner: Owner): boolean {
  return JSON.stringify(template) === JSON.stringify(templateOf(owner, podLabels(owner)));
}

export function newDeployment(deployment: DeploymentState, createdMs: number): Deployment {
  const { name, namespace, uid, replicas: desired, current, revision } = deployment;
  const labels = podLabels(current);
  return shapeOf('Deployment', {
    ...{ name, namespace, uid, labels, desired, app: current.app, revision: String(revision) },
    created: timestamp(createdMs),
    template: templateOf(current, labels),
  });
}

/** The deployment with the template of its current replica set. */
export function withTemplate<D extends Deployment>(deployment: D, state: DeploymentState): D {
  const { metadata, spec } = deployment;
  if (spec === undefined) return deployment;
  const annotations = { ...metadata?.annotations, [REVISION]: String(state.revision) };
  const template = templateOf(state.current, podLabels(state.current));
  return { ...deployment, metadata: { ...metadata, annotations }, spec: { ...spec, template } };
}

/** The object of a new controller. The labels of a replica set tell its pods from those of the others. */
export function newController<T>(owner: Owner, createdMs: number): T {
  const { kind, name, namespace, uid, app, desired, deployment } = owner;
  const hash = hashOf(owner);
  const ofSet = kind === 'ReplicaSet' ? { 'pod-template-hash': hash } : {};
  const labels = { ...podLabels(owner), ...ofSet };
  return shapeOf(kind, {
    ...{ name, namespace, uid, app, desired, hash, labels },
    ...{ ownerName: deployment?.name, ownerUid: deployment?.uid },
    revision: String(deployment?.revision),
    created: timestamp(createdMs),
    template: templateOf(owner, labels),
  });
}
