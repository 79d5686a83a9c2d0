/** ReplicaSets whose Pods could not be created. */
import type { ReplicaSet } from 'rx-informer/resources';
import { conditionOf } from '../../shared/conditions.ts';

/** The reason of their condition. */
export const FAILED = 'FailedCreate';

export function failureOf(set: ReplicaSet) {
  const failure = conditionOf(set, 'ReplicaFailure');
  return failure?.reason === FAILED ? failure : undefined;
}
