/**
 * The versions of deletions. Recognizes outdated ones, which must not delete a newer state or another object of the same
 * name.
 */
import type { RefusedState } from '../meta/known-objects.ts';
import { type KubernetesObject, uidOf, versionOf } from '../meta/kubernetes-object.ts';
import { isOlder } from '../meta/resource-version.ts';

/** The parts of a deletion that decide whether it is outdated. */
interface Deletion {
  readonly object?: unknown;
  readonly finalStateUnknown: boolean;
  readonly resourceVersion?: string | undefined;
}

/** The identity and the version of an object's state. */
export function stateOf(object: KubernetesObject): RefusedState {
  return { uid: uidOf(object), resourceVersion: versionOf(object) };
}

/**
 * Whether a deletion does not apply to the newest object of that name, because that object is another one that was
 * created later, or the same one at a later version. The state in a missed deletion may be old, so such a deletion of
 * the same object always applies.
 */
export function isOutdatedDeletion(
  { object: ended, finalStateUnknown, resourceVersion }: Deletion,
  newest: RefusedState,
): boolean {
  if (resourceVersion !== undefined) return isOlder(resourceVersion, newest.resourceVersion);
  if (ended === undefined) return false;
  const last = ended as KubernetesObject;
  if (finalStateUnknown && uidOf(last) === newest.uid) return false;
  return isOlder(versionOf(last), newest.resourceVersion);
}

/** The version of a deletion; '' if it is not known. */
export function versionOfDeletion({
  object,
  finalStateUnknown,
  resourceVersion,
}: Deletion): string {
  return resourceVersion ?? (finalStateUnknown ? '' : versionOf(object as KubernetesObject));
}
