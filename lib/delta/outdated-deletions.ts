/** Ends that come too late: what they end is not what there is any more. */
import type { RefusedState } from '../meta/known-objects.ts';
import { type KubernetesObject, uidOf, versionOf } from '../meta/kubernetes-object.ts';
import { isOlder } from '../meta/resource-version.ts';

/** What is told of an end. */
interface End {
  readonly object?: unknown;
  readonly finalStateUnknown: boolean;
  readonly resourceVersion?: string;
}

/** What there is of a name: an object, or one whose state was refused. */
export function stateOf(object: KubernetesObject): RefusedState {
  return { uid: uidOf(object), resourceVersion: versionOf(object) };
}

/**
 * Whether the end of an object says nothing of the newest one of that name: another one that came after it, or the same
 * one at a later version. An end that was missed is told with a state as old as it may be, and counts.
 */
export function isOutdatedDeletion(
  { object: ended, finalStateUnknown, resourceVersion }: End,
  newest: RefusedState,
): boolean {
  if (resourceVersion !== undefined) return isOlder(resourceVersion, newest.resourceVersion);
  if (ended === undefined) return false;
  const last = ended as KubernetesObject;
  if (finalStateUnknown && uidOf(last) === newest.uid) return false;
  return isOlder(versionOf(last), newest.resourceVersion);
}
