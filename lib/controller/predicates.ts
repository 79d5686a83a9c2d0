/**
 * Which changes are worth a reconcile. A predicate only ever drops updates: what comes and what goes always
 * passes. controller-runtime: pkg/predicate.
 */
import type { KubernetesObject, ObjectMeta } from '../meta/kubernetes-object.ts';
import type { Test } from './combine.ts';
import type { ObjectChange } from './object-change.ts';

/** Whether a change is worth a reconcile. One that throws, or answers a Promise, is reported, and the change passes. */
export type Predicate<T extends KubernetesObject = KubernetesObject> = Test<ObjectChange<T>>;

/** Passes updates in which `differ` sees a difference, and all that is no update. */
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
 * Drops updates that leave `metadata.generation` as it is: those of the status and of other metadata.
 *
 * A server counts the generation when the spec changes and when the object is marked as deleted, so a deletion
 * that waits for finalizers passes. It does **not** count changes of labels, annotations, finalizers and owner
 * references: a controller that acts on those needs `or(generationChanged, annotationsChanged())`. Nor does it
 * pass resyncs; add {@link resynced} for these. Kinds without a generation (ConfigMaps, Services, Secrets …)
 * pass always, where controller-runtime would drop each of their updates.
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

/** Drops updates without news: those of a resync, and of a list in which nothing happened. */
export const resourceVersionChanged: Predicate<KubernetesObject> = /* @__PURE__ */ onUpdate(
  (before, now) =>
    before.resourceVersion === undefined || before.resourceVersion !== now.resourceVersion,
);

/** Drops updates that leave the labels as they are; with names, these labels. */
export function labelsChanged(...names: readonly string[]): Predicate<KubernetesObject> {
  return onUpdate((before, now) => textsDiffer(before.labels, now.labels, names));
}

/** Drops updates that leave the annotations as they are; with names, these annotations. */
export function annotationsChanged(...names: readonly string[]): Predicate<KubernetesObject> {
  return onUpdate((before, now) => textsDiffer(before.annotations, now.annotations, names));
}

/** Drops updates that are no resync. */
export const resynced: Predicate<KubernetesObject> = ({ type, cause }) =>
  type !== 'updated' || cause === 'resync';
