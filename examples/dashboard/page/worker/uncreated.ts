/** ReplicaSets whose Pods could not be created. */
import type { ReplicaSet } from 'rx-informer/resources';

/** The reason of their condition. */
export const FAILED = 'FailedCreate';

export function failureOf({ status }: ReplicaSet) {
  const conditions = status?.conditions ?? [];
  return conditions.find(
    ({ type, status: now, reason }) =>
      type === 'ReplicaFailure' && now === 'True' && reason === FAILED,
  );
}
