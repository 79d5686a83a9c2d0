/** Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs as rows. */
import type { KubernetesObject } from 'rx-informer';
import { daemonSets, deployments, jobs, replicaSets, statefulSets } from 'rx-informer/resources';
import { type Condition, conditionOf } from '../../shared/conditions.ts';
import { byName, type Column, column, defineKind, type Row, rowOf, type State } from './kind.ts';
import { withPodReasons, withReasonsOfSets } from './roll-up.ts';

interface Templated extends KubernetesObject {
  readonly spec?: {
    readonly template?: {
      readonly spec?: { readonly containers?: readonly { readonly image?: string }[] };
    };
  };
}

interface Replicas {
  readonly desired: number;
  readonly ready: number;
  /** Pods of the newest template, and pods of all templates. */
  readonly updated?: number | undefined;
  readonly existing?: number | undefined;
  readonly paused?: boolean | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

/**
 * The state of a workload. A failure that a condition reports says more than the number of replicas. A rollout is
 * complete by the rules of `kubectl rollout status`: all pods are of the newest template, and no older one is left.
 */
export function workloadState(replicas: Replicas): Required<State> {
  const { desired, ready, paused, conditions = [] } = replicas;
  const { updated = desired, existing = updated } = replicas;
  const status = { conditions };
  const failure = conditionOf({ status }, 'ReplicaFailure');
  const missing = `${desired - ready} of ${desired} Pods not ready`;
  if (failure !== undefined) {
    const { reason = 'ReplicaFailure', message = '' } = failure;
    return { status: reason, tone: 'bad', why: message };
  }
  const stalled = conditionOf({ status }, 'Progressing', 'False');
  if (stalled !== undefined) return { status: 'Stalled', tone: 'bad', why: stalled.message ?? '' };
  if (desired === 0) return { status: 'Scaled to zero', tone: 'done', why: '' };
  if (conditionOf({ status }, 'Available', 'False'))
    return { status: 'Unavailable', tone: 'bad', why: missing };
  const rolls = { status: paused ? 'Paused' : 'Rolling out', tone: 'busy' } as const;
  if (updated < desired) {
    return { ...rolls, why: `${updated} of ${desired} Pods are of the new version` };
  }
  if (existing > updated) {
    return { ...rolls, why: `old Pods to stop: ${existing - updated}` };
  }
  if (ready < desired) return { status: 'Not ready', tone: 'busy', why: missing };
  return { status: 'Ready', tone: 'good', why: '' };
}

function workloadRow(object: Templated, replicas: Replicas): Row {
  const { desired } = replicas;
  // During a rollout there may be one pod more than desired.
  const ready = Math.min(replicas.ready, desired);
  const containers = object.spec?.template?.spec?.containers ?? [];
  const image = containers.map((container) => container.image).join(', ');
  const readyShare = desired === 0 ? 1 : ready / desired;
  const fields = { ready: `${ready}/${desired}`, readyShare, image };
  return rowOf(object, workloadState(replicas), fields, image);
}

const text = { type: 'text' } as const;
const imageColumn: Column = {
  ...text,
  id: 'image',
  title: 'Image',
  width: 160,
  grow: 1.5,
  // The reason of a trouble needs its room.
  inTrouble: false,
};
const readyColumn: Column = { ...text, id: 'ready', title: 'Ready', width: 70, by: 'readyShare' };
const leading = [column.name, column.status, readyColumn, column.why, column.age, column.namespace];
const columns = [...leading, imageColumn];
const shared = { columns, sort: byName, join: withPodReasons };
const tones = { good: 'Ready', busy: 'In progress', bad: 'In trouble', done: 'Scaled to zero' };

export const deploymentKind = defineKind({
  ...shared,
  id: 'deployments',
  title: 'Deployments',
  resource: deployments,
  tones,
  row: (object) => {
    const { replicas: desired = 1, paused } = object.spec ?? {};
    const { readyReplicas: ready = 0, updatedReplicas: updated = 0 } = object.status ?? {};
    const { replicas: existing, conditions } = object.status ?? {};
    return workloadRow(object, { desired, ready, updated, existing, paused, conditions });
  },
  join: (deployments$, rowsOf) => withReasonsOfSets(deployments$, rowsOf(replicaSetKind), rowsOf),
});

/** Counts the versions of a Deployment, on each of its ReplicaSets. */
const REVISION = 'deployment.kubernetes.io/revision';

export const replicaSetKind = defineKind({
  ...shared,
  id: 'replicasets',
  title: 'ReplicaSets',
  resource: replicaSets,
  tones,
  columns: [...leading, column.owner],
  row: (object) => {
    const { readyReplicas: ready = 0, conditions } = object.status ?? {};
    const row = workloadRow(object, { desired: object.spec?.replicas ?? 1, ready, conditions });
    return { ...row, revision: Number(object.metadata.annotations?.[REVISION] ?? 0) };
  },
});

/** With the strategy OnDelete nobody replaces the old pods. */
const updatedOf = (spec: { updateStrategy?: { type?: string } } = {}, updated?: number) =>
  spec.updateStrategy?.type === 'OnDelete' ? undefined : updated;

export const statefulSetKind = defineKind({
  ...shared,
  id: 'statefulsets',
  title: 'StatefulSets',
  resource: statefulSets,
  tones,
  row: (object) => {
    const { readyReplicas: ready = 0, updatedReplicas, conditions } = object.status ?? {};
    const desired = object.spec?.replicas ?? 1;
    const updated = updatedOf(object.spec, updatedReplicas);
    return workloadRow(object, { desired, ready, updated, existing: updated, conditions });
  },
});

export const daemonSetKind = defineKind({
  ...shared,
  id: 'daemonsets',
  title: 'DaemonSets',
  resource: daemonSets,
  tones,
  row: (object) => {
    const { numberReady: ready = 0, desiredNumberScheduled: desired = 0 } = object.status ?? {};
    const { updatedNumberScheduled, conditions } = object.status ?? {};
    const updated = updatedOf(object.spec, updatedNumberScheduled);
    return workloadRow(object, { desired, ready, updated, existing: updated, conditions });
  },
});

export const jobKind = defineKind({
  ...shared,
  id: 'jobs',
  title: 'Jobs',
  resource: jobs,
  tones: { busy: 'Running', bad: 'Failed', done: 'Complete' },
  columns: columns.map((column) => (column.id === 'ready' ? { ...column, title: 'Done' } : column)),
  row: (object) => {
    const { succeeded: ready = 0 } = object.status ?? {};
    const row = workloadRow(object, { desired: object.spec?.completions ?? 1, ready });
    const failed = conditionOf(object, 'Failed');
    if (failed) return { ...row, status: 'Failed', tone: 'bad', why: failed.message ?? '' };
    if (conditionOf(object, 'Complete'))
      return { ...row, status: 'Complete', tone: 'done', why: '' };
    const status = object.spec?.suspend ? 'Suspended' : 'Running';
    return { ...row, status, tone: 'busy', why: '' };
  },
});
