/** Ends that come too late: what they end is not what there is any more. */
import { type KubernetesObject, uidOf, versionOf } from '../meta/kubernetes-object.ts';
import { isOlder } from '../meta/resource-version.ts';

/**
 * Whether the end of an object says nothing of the newest one of that name: another one that came after it, or the same
 * one at a later version. An end that was missed is told with a state as old as it may be, and counts.
 */
export function isStaleEnd(
  { object: ended, finalStateUnknown }: { readonly object?: unknown; finalStateUnknown: boolean },
  newest: KubernetesObject,
): boolean {
  if (ended === undefined) return false;
  const last = ended as KubernetesObject;
  if (finalStateUnknown && uidOf(last) === uidOf(newest)) return false;
  return isOlder(versionOf(last), versionOf(newest));
}
