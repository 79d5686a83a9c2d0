/**
 * A pod as one line of the table. Rows are small and hold ready-made sort and search keys, so that sorting,
 * filtering and painting never reach into a whole pod again.
 */
import type { Pod } from 'rx-informer/resources';
import { podStatus, type Tone } from './pod-status.ts';

/** What the table shows of one pod. */
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
  /** All that the text filter looks at, in lower case. */
  readonly text: string;
}

function ownerOf(pod: Pod): string {
  const owners = pod.metadata?.ownerReferences ?? [];
  const owner = owners.find((reference) => reference.controller) ?? owners[0];
  return owner === undefined ? '' : `${owner.kind}/${owner.name}`;
}

/** The row of a pod; `before` itself where nothing that is shown has changed. */
export function podRow(pod: Pod, before?: PodRow): PodRow {
  const { metadata = {}, spec, status } = pod;
  const containers = status?.containerStatuses ?? [];
  let ready = 0;
  let restarts = 0;
  for (const container of containers) {
    if (container.ready) ready++;
    restarts += container.restartCount;
  }
  const { text: statusText, tone } = podStatus(pod);
  const total = spec?.containers.length ?? containers.length;
  const node = spec?.nodeName ?? '';
  if (
    before !== undefined &&
    before.uid === metadata.uid &&
    before.status === statusText &&
    before.ready === ready &&
    before.restarts === restarts &&
    before.tone === tone &&
    before.node === node &&
    before.containers === total &&
    before.phase === (status?.phase ?? 'Unknown')
  ) {
    return before;
  }
  const name = metadata.name ?? '';
  const namespace = metadata.namespace ?? '';
  const owner = ownerOf(pod);
  return {
    uid: metadata.uid ?? `${namespace}/${name}`,
    name,
    namespace,
    phase: status?.phase ?? 'Unknown',
    status: statusText,
    tone,
    ready,
    containers: total,
    restarts,
    createdMs: Date.parse(metadata.creationTimestamp ?? '') || 0,
    node,
    owner,
    text: `${namespace}/${name} ${node} ${owner}`.toLowerCase(),
  };
}
