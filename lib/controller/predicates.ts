/**
 * Predicates, which decide whether a change queues its key. The predicates here drop updates only: additions and deletions
 * always pass. controller-runtime: pkg/predicate.
 */

import type { Change } from '../delta/net-change.ts';
import type { KubernetesObject, ObjectMeta, Stored } from '../meta/kubernetes-object.ts';
import type { Cause, ChangeSet } from '../store/change-set.ts';
import type { Test } from './combine.ts';

/** Why a change is reported: the initial list, a watch event, a relist, or a resync without a change, or shards that arrived. */
export type ChangeCause = Exclude<Cause, 'snapshot'>;

/**
 * A change of one object. It has the states before and after, because an object that moves from one owner to another
 * affects both owners.
 */
export interface ObjectChange<T> {
  readonly type: 'added' | 'updated' | 'deleted';
  readonly cause: ChangeCause;
  /** The key of the object itself, `namespace/name`. */
  readonly key: string;
  /** The state that was reported before. */
  readonly previous?: Stored<T>;
  /** The state after the change; absent if the object is deleted. */
  readonly object?: Stored<T>;
  /** For a deleted object: the newest state that was seen. */
  readonly last?: Stored<T>;
}

/**
 * Converts one change of a set; `undefined` if the object exists neither before nor after it, or if its shard has left:
 * another replica reconciles it.
 */
export function objectChange<T>(
  set: Pick<ChangeSet<T>, 'cause' | 'initial'>,
  change: Change<T>,
): ObjectChange<T> | undefined {
  const { key, previous, object } = change;
  if (object === undefined && change.left === true) return undefined;
  const cause = set.cause === 'snapshot' || set.initial ? 'initial' : set.cause;
  if (object !== undefined) {
    if (previous === undefined) return { type: 'added', cause, key, object };
    return { type: 'updated', cause, key, previous, object };
  }
  if (previous === undefined) return undefined;
  return { type: 'deleted', cause, key, previous, last: change.last ?? previous };
}

/** Whether a change queues its key. If a predicate throws or returns a Promise, the error is reported and the change passes. */
export type Predicate<T extends KubernetesObject = KubernetesObject> = Test<ObjectChange<T>>;

/** Passes every change that is not an update, and updates in which `differ` finds a difference. */
function onUpdate(
  differ: (before: ObjectMeta, now: ObjectMeta) => boolean,
): Predicate<KubernetesObject> {
  return ({ type, previous, object }) =>
    type !== 'updated' || differ(previous?.metadata ?? {}, object?.metadata ?? {});
}

type Texts = Readonly<Record<string, string>> | undefined;

function textsDiffer(before: Texts, now: Texts, names: readonly string[]): boolean {
  if (before === now) return false;
  const all = names.length > 0 ? names : Object.keys({ ...before, ...now });
  const textOf = (texts: Texts, name: string) =>
    texts !== undefined && Object.hasOwn(texts, name) ? texts[name] : undefined;
  return all.some((name) => textOf(before, name) !== textOf(now, name));
}

/**
 * Drops updates that do not change `metadata.generation`: those of the status and of other metadata.
 *
 * The API server increments the generation when the spec changes and when the object is marked for deletion, so a deletion that
 * waits for finalizers passes. It does **not** increment it when labels, annotations, finalizers or owner references change: a
 * controller that depends on those needs `or(generationChanged, annotationsChanged())`. Resyncs do not pass either; add
 * {@link resynced} for them. Every update of a kind without generations (ConfigMaps, Services, Secrets …) passes, whereas
 * controller-runtime drops all of them.
 *
 * controller-runtime: predicate.GenerationChangedPredicate
 *
 * @example
 * ```ts
 * import { generationChanged } from 'rx-informer';
 *
 * const at = (generation: number) => (
 *   { metadata: { name: 'web', uid: 'u1', resourceVersion: '5', generation } }
 * );
 * const update = (before: number, now: number) => ({
 *   type: 'updated', cause: 'watch', key: 'shop/web', previous: at(before), object: at(now),
 * }) as const;
 * generationChanged(update(1, 2)); // => true
 * generationChanged(update(2, 2)); // => false
 * ```
 */
export const generationChanged: Predicate<KubernetesObject> = /* @__PURE__ */ onUpdate(
  (before, now) =>
    before.generation === undefined ||
    before.generation !== now.generation ||
    before.uid !== now.uid ||
    before.deletionTimestamp !== now.deletionTimestamp,
);

/** Drops updates that do not change the resourceVersion: those of a resync, and of a list in which the object did not change. */
export const resourceVersionChanged: Predicate<KubernetesObject> = /* @__PURE__ */ onUpdate(
  (before, now) =>
    before.resourceVersion === undefined || before.resourceVersion !== now.resourceVersion,
);

/** Drops updates that do not change the labels or, with names, these labels. */
export function labelsChanged(...names: readonly string[]): Predicate<KubernetesObject> {
  return onUpdate((before, now) => textsDiffer(before.labels, now.labels, names));
}

/** Drops updates that do not change the annotations or, with names, these annotations. */
export function annotationsChanged(...names: readonly string[]): Predicate<KubernetesObject> {
  return onUpdate((before, now) => textsDiffer(before.annotations, now.annotations, names));
}

/** Drops updates that are not resyncs. */
export const resynced: Predicate<KubernetesObject> = ({ type, cause }) =>
  type !== 'updated' || cause === 'resync';
