/**
 * A pod as one row of the table. Rows are small and hold prepared sort and search keys, so that sorting, filtering
 * and rendering do not read the complete pod again.
 */
import type { Pod } from 'rx-informer/resources';
import { podStatus, type Tone } from './pod-status.ts';

/** The columns of one pod. */
export interface PodRow {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly phase: string;
  readonly status: string;
  readonly tone: Tone;
  readonly ready: number;
  readonly containers: number;
  readonly restarts: number;
  readonly createdMs: number;
  readonly node: string;
  readonly owner: string;
  /** The text that the filter searches, in lower case. */
  readonly text: string;
}

/** The owner that controls a pod, otherwise the first owner, or '' if the pod has none. */
export function ownerOf(pod: Pod): string {
  const owners = pod.metadata?.ownerReferences ?? [];
  const owner = owners.find((reference) => reference.controller) ?? owners[0];
  return owner === undefined ? '' : `${owner.kind}/${owner.name}`;
}

/** The row of a pod. */
export function podRow(pod: Pod): PodRow {
  const { metadata = {}, spec, status } = pod;
  const { text: statusText, tone, ready, containers, restarts } = podStatus(pod);
  const { name = '', namespace = '' } = metadata;
  const node = spec?.nodeName ?? '';
  const owner = ownerOf(pod);
  return {
    uid: metadata.uid ?? `${namespace}/${name}`,
    name,
    namespace,
    phase: status?.phase ?? 'Unknown',
    status: statusText,
    tone,
    ready,
    containers,
    restarts,
    createdMs: Date.parse(metadata.creationTimestamp ?? '') || 0,
    node,
    owner,
    text: `${namespace}/${name} ${node} ${owner}`.toLowerCase(),
  };
}
