/** Ready-made conditions for `untilCondition`. kube-rs: runtime::wait::conditions. */
import { type KubernetesObject, uidOf } from '../meta/kubernetes-object.ts';
import type { Test } from './combine.ts';

/** Tests the current state of an object; `undefined` if the object does not exist, yet or any more. */
export type Condition<T extends KubernetesObject = KubernetesObject> = Test<T | undefined>;

/** The object exists. */
export const exists: Condition<KubernetesObject> = (object) => object !== undefined;

/** The object does not exist. With a UID, an object of the same name with another UID counts as deleted, too. */
export function deleted(uid?: string): Condition<KubernetesObject> {
  return (object) => object === undefined || (uid !== undefined && uidOf(object) !== uid);
}

/** One entry of `status.conditions`. */
export interface StatusCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

/** The entries of `status.conditions`; an empty list if the object has none. */
export function statusConditions(object: object | undefined): readonly StatusCondition[] {
  const status = (object as { readonly status?: unknown } | undefined)?.status;
  const conditions = (status as { readonly conditions?: unknown } | undefined)?.conditions;
  return Array.isArray(conditions) ? (conditions as StatusCondition[]) : [];
}

/**
 * An entry of `status.conditions` has this type and status `True`, and is about the current spec: an entry with an older
 * `observedGeneration` does not count.
 *
 * @example
 * ```ts
 * import { conditionTrue } from 'rx-informer';
 *
 * const pod = { status: { conditions: [{ type: 'Ready', status: 'False' }] } };
 * conditionTrue('Ready')(pod as object); // => false
 * ```
 */
export function conditionTrue(type: string): Condition<KubernetesObject> {
  return (object) =>
    statusConditions(object).some((condition) => {
      if (condition.type !== type || condition.status !== 'True') return false;
      const { observedGeneration } = condition;
      const generation = object?.metadata?.generation;
      return (
        observedGeneration === undefined ||
        generation === undefined ||
        observedGeneration >= generation
      );
    });
}
