/**
 * The kinds that a table begins with after a reload, if the browser may store them. What is of use for a moment only, such as
 * Events, is not stored.
 */
import * as builtIn from 'rx-informer/resources';
import type { Kind } from './kind.ts';

export const storedKinds = [
  ...[builtIn.pods, builtIn.deployments, builtIn.replicaSets, builtIn.statefulSets],
  ...[builtIn.daemonSets, builtIn.jobs, builtIn.services, builtIn.nodes, builtIn.namespaces],
];

/** Whether the browser may store the rows of a kind. */
export function isStored({ resource }: Kind): boolean {
  return storedKinds.some((stored) => stored === (resource as unknown));
}
