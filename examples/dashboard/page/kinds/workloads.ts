/** Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs as rows. */
import type { KubernetesObject } from 'rx-informer';
import { daemonSets, deployments, jobs, replicaSets, statefulSets } from 'rx-informer/resources';
import {
  ageColumn,
  byName,
  type Column,
  defineKind,
  nameColumn,
  namespaceColumn,
  ownerColumn,
  type Row,
  rowOf,
  statusColumn,
  type Tone,
  textOf,
} from './kind.ts';

/** A condition of a status. */
export interface ConditionLike {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

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
  readonly updated?: number;
  readonly paused?: boolean | undefined;
  readonly conditions?: readonly ConditionLike[] | undefined;
}

/** The state of a workload in words. A failure that a condition reports says more than the number of replicas. */
export function workloadState(replicas: Replicas): {
  readonly status: string;
  readonly tone: Tone;
} {
  const { desired, ready, updated = desired, paused, conditions = [] } = replicas;
  const failure = conditions.find(
    (each) => each.type === 'ReplicaFailure' && each.status === 'True',
  );
  if (failure !== undefined) return { status: failure.reason ?? 'ReplicaFailure', tone: 'bad' };
  const progress = conditions.find((each) => each.type === 'Progressing');
  if (progress?.status === 'False') return { status: 'Stalled', tone: 'bad' };
  if (desired === 0) return { status: 'Scaled to zero', tone: 'done' };
  const isUnavailable = conditions.some(
    (each) => each.type === 'Available' && each.status === 'False',
  );
  if (isUnavailable) return { status: 'Unavailable', tone: 'bad' };
  if (updated < desired) return { status: paused ? 'Paused' : 'Rolling out', tone: 'busy' };
  if (ready < desired) return { status: 'Not ready', tone: 'busy' };
  return { status: 'Ready', tone: 'good' };
}

function workloadRow(object: Templated, replicas: Replicas): Row {
  const { desired, ready } = replicas;
  const row = rowOf(object, workloadState(replicas));
  const containers = object.spec?.template?.spec?.containers ?? [];
  const image = containers.map((container) => container.image).join(', ');
  return {
    ...row,
    ready: `${ready}/${desired}`,
    readyShare: desired === 0 ? 1 : ready / desired,
    image,
    text: textOf(`${row.namespace}/${row.name}`, row.owner, image),
  };
}

const imageColumn: Column = { id: 'image', title: 'Image', type: 'text', width: 200, grow: 2 };
const readyColumn: Column = {
  id: 'ready',
  title: 'Ready',
  type: 'text',
  width: 70,
  by: 'readyShare',
};
const columns = [nameColumn, statusColumn, readyColumn, ageColumn, namespaceColumn, imageColumn];
const shared = { columns, sort: byName };
const tones = { good: 'Ready', busy: 'In progress', bad: 'In trouble', done: 'Scaled to zero' };

export const deploymentKind = defineKind({
  ...shared,
  id: 'deployments',
  title: 'Deployments',
  resource: deployments,
  tones,
  row: (object) => {
    const { replicas: desired = 1, paused } = object.spec ?? {};
    const {
      readyReplicas: ready = 0,
      updatedReplicas: updated = 0,
      conditions,
    } = object.status ?? {};
    return workloadRow(object, { desired, ready, updated, paused, conditions });
  },
});

export const replicaSetKind = defineKind({
  ...shared,
  id: 'replicasets',
  title: 'ReplicaSets',
  resource: replicaSets,
  tones,
  columns: [nameColumn, statusColumn, readyColumn, ageColumn, namespaceColumn, ownerColumn],
  row: (object) => {
    const { readyReplicas: ready = 0, conditions } = object.status ?? {};
    return workloadRow(object, { desired: object.spec?.replicas ?? 1, ready, conditions });
  },
});

export const statefulSetKind = defineKind({
  ...shared,
  id: 'statefulsets',
  title: 'StatefulSets',
  resource: statefulSets,
  tones,
  row: (object) => {
    const { readyReplicas: ready = 0, conditions } = object.status ?? {};
    return workloadRow(object, { desired: object.spec?.replicas ?? 1, ready, conditions });
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
    return workloadRow(object, { desired, ready, conditions: object.status?.conditions });
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
    const { succeeded = 0, conditions = [] } = object.status ?? {};
    const is = (type: string) =>
      conditions.some((each) => each.type === type && each.status === 'True');
    const row = workloadRow(object, { desired: object.spec?.completions ?? 1, ready: succeeded });
    if (is('Failed')) return { ...row, status: 'Failed', tone: 'bad' };
    if (is('Complete')) return { ...row, status: 'Complete', tone: 'done' };
    return { ...row, status: object.spec?.suspend ? 'Suspended' : 'Running', tone: 'busy' };
  },
});
