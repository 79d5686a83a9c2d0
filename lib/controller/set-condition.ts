/** Sets an entry of `status.conditions`. apimachinery: meta.SetStatusCondition. */

import { asyncScheduler } from 'rxjs';
import { checkedName, checkedText, checkedWord } from '../checks/checked-option.ts';
import { microTime } from '../election/lease-record.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type StatusCondition, statusConditions } from './until-condition.ts';

/** The condition that {@link setCondition} sets. */
export interface NewCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** The cause of the status as one word, such as `MinimumReplicasAvailable`. */
  readonly reason: string;
  /** @defaultValue '' */
  readonly message?: string | undefined;
  /** When the status changed, in milliseconds since the Unix epoch. Ignored if it did not change. @defaultValue now */
  readonly transitionAtMs?: number | undefined;
  /** The generation that the status is about. @defaultValue `metadata.generation` of the object */
  readonly observedGeneration?: number | undefined;
}

/** An entry of `status.conditions` with the fields that the API conventions require. */
export interface WrittenCondition extends StatusCondition {
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

const STATUSES: readonly NewCondition['status'][] = ['True', 'False', 'Unknown'];
const FIELDS = ['status', 'reason', 'message', 'observedGeneration'] as const;

/** A moment as the API server writes it, in seconds. */
function textOf(atMs: number): string {
  return microTime(atMs).replace(/\.\d+Z$/, 'Z');
}

/**
 * The conditions of an object after one of them was set: the same array if that changes nothing, so that a reconcile writes only
 * if the array is another one. The object is not changed.
 *
 * `lastTransitionTime` changes only with `status`. Other fields of the entry and other entries stay as they are; a new type is
 * added at the end. Throws a `TypeError` if `type` or `reason` is empty, or `status` is not `True`, `False` or `Unknown`, and a
 * `RangeError` if `transitionAtMs` is not a valid time.
 *
 * apimachinery: meta.SetStatusCondition
 *
 * @example
 * ```ts
 * import { setCondition } from 'rx-informer';
 *
 * const ready = { type: 'Ready', status: 'True', reason: 'Started' } as const;
 * const job = { metadata: { name: 'import', generation: 3 } };
 * const conditions = setCondition(job, { ...ready, transitionAtMs: 0 });
 * conditions[0]?.lastTransitionTime; // => '1970-01-01T00:00:00Z'
 * conditions[0]?.observedGeneration; // => 3
 * setCondition({ ...job, status: { conditions } }, ready) === conditions; // => true
 * ```
 */
export function setCondition<C extends StatusCondition = WrittenCondition>(
  object: KubernetesObject & { readonly status?: { readonly conditions?: readonly C[] } },
  condition: NewCondition,
): readonly (C | WrittenCondition)[] {
  const { type, status, reason, message = '', transitionAtMs = asyncScheduler.now() } = condition;
  checkedName(type, 'setCondition: type');
  checkedName(reason, 'setCondition: reason');
  checkedText(message, 'setCondition: message', /^/, 'text');
  checkedWord(status, 'setCondition: status', STATUSES);
  const observedGeneration = condition.observedGeneration ?? object.metadata?.generation;
  const set = { type, status, reason, message, lastTransitionTime: textOf(transitionAtMs) };
  const made = observedGeneration === undefined ? set : { ...set, observedGeneration };
  const conditions = statusConditions(object) as readonly C[];
  const at = conditions.findIndex((each) => each.type === type);
  const before = conditions[at];
  if (before === undefined) return [...conditions, made];
  const { lastTransitionTime } = before as Partial<WrittenCondition>;
  const entry: StatusCondition = { ...before, ...made };
  // A server leaves empty fields out.
  if (FIELDS.every((field) => (before[field] || '') === (entry[field] || ''))) return conditions;
  const isSame = before.status === status && lastTransitionTime !== undefined;
  return conditions.with(at, (isSame ? { ...entry, lastTransitionTime } : entry) as C);
}
