/** Pods as rows. */
import { type Pod, pods } from 'rx-informer/resources';
import { column, defineKind, type Row, rowOf } from './kind.ts';
import { podStatus } from './pod-status.ts';
import { boundsOf, usageColumns } from './usage.ts';

export function podRow(pod: Pod): Row {
  const { text, tone, why, ready, containers, restarts, log } = podStatus(pod);
  const node = pod.spec?.nodeName ?? '';
  const fields = {
    phase: pod.status?.phase ?? 'Unknown',
    ready: `${ready}/${containers}`,
    readyShare: containers === 0 ? 0 : ready / containers + containers / 1e6,
    ...{ restarts, log },
    ...boundsOf(pod),
    node,
    ip: pod.status?.podIP ?? '',
  };
  return rowOf(pod, { status: text, tone, why }, fields, node);
}

/** Whether a pod has ended, and so requests nothing any more. */
export const hasEnded = ({ phase }: Row): boolean => phase === 'Succeeded' || phase === 'Failed';

export const podKind = defineKind({
  id: 'pods',
  title: 'Pods',
  resource: pods,
  metered: 'pods',
  tones: { good: 'Running', busy: 'In progress', bad: 'In trouble', done: 'Completed' },
  columns: [
    column.name,
    column.status,
    { id: 'ready', title: 'Ready', type: 'text', width: 56, by: 'readyShare' },
    { id: 'restarts', title: 'Restarts', type: 'number', width: 78, largestFirst: true },
    { ...column.why, width: 300, optional: true, inTrouble: true },
    ...usageColumns,
    column.age,
    column.namespace,
    { id: 'node', title: 'Node', type: 'text', width: 92, grow: 0.4, narrow: 78 },
    column.owner,
    { id: 'ip', title: 'Pod IP', type: 'text', width: 104, optional: true },
  ],
  row: podRow,
});
