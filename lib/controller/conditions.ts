/** Ready-made conditions for `untilCondition`. kube-rs: runtime::wait::conditions. */
import { type KubernetesObject, uidOf } from '../meta/kubernetes-object.ts';
import type { Test } from './combine.ts';

/** Sees an object as it is now; `undefined`: there is none, not yet or no more. */
export type Condition<T extends KubernetesObject = KubernetesObject> = Test<T | undefined>;

/** There is such an object. */
export const exists: Condition<KubernetesObject> = (object) => object !== undefined;

/** There is no such object; with a UID, not this one: another of its name may stand in its place. */
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

/** The entries of `status.conditions`, where an object has them. */
export function statusConditions(object: object | undefined): readonly StatusCondition[] {
  const status = (object as { readonly status?: unknown } | undefined)?.status;
  const conditions = (status as { readonly conditions?: unknown } | undefined)?.conditions;
  return Array.isArray(conditions) ? (conditions as StatusCondition[]) : [];
}

/**
 * `status.conditions` has this type with status `True`, and it is about the spec as it is now: one that names an
 * older generation does not count.
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
