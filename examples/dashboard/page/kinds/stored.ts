/**
 * The kinds that a table begins with after a reload, if the browser may store them. What is of use for a moment only, such as
 * Events, is not stored.
 */
import {
  daemonSets,
  deployments,
  jobs,
  namespaces,
  nodes,
  pods,
  replicaSets,
  services,
  statefulSets,
} from 'rx-informer/resources';
import type { Kind } from './kind.ts';

export const storedKinds = [
  ...[pods, deployments, replicaSets, statefulSets, daemonSets],
  ...[jobs, services, nodes, namespaces],
];

/** Whether the browser may store the rows of a kind. */
export function isStored({ resource }: Kind): boolean {
  return storedKinds.some((stored) => stored === (resource as unknown));
}
