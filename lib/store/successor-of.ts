/** Decides whether a received object replaces the stored one, by its version, its UID and its origin. */
import { type KubernetesObject, uidOf, versionOf } from '../meta/kubernetes-object.ts';
import { isOlder } from '../meta/resource-version.ts';
import { reuseUnchanged } from '../meta/reuse-unchanged.ts';
import { sameContent } from '../meta/same-content.ts';

/**
 * The origin of an object: a watch, a part of a list, or a complete list, whose versions are trusted to mean equal
 * content (`trusting`) or not (`doubting`).
 */
export type Origin = 'watch' | 'part' | 'trusting' | 'doubting';

/**
 * The parts of a changed object that are equal to those of its earlier state: the same JavaScript objects, or those that
 * were received.
 */
export type UnchangedParts = 'same' | 'new';

/**
 * Returns the object to store in place of `existing`, or `undefined` if `existing` stays. That is the received object,
 * whose unchanged parts are those of `existing`. Only an object of the same UID has parts of `existing`, because code
 * may keep what it knows of an object under one of its parts. `basis` is the state whose parts `object` has already.
 */
export function successorOf<T extends KubernetesObject>(
  existing: T | undefined,
  object: T,
  origin: Origin,
  basis?: T,
): T | undefined {
  if (existing === undefined || uidOf(existing) !== uidOf(object)) return object;
  if (existing === object) return undefined;
  const had = versionOf(existing);
  const received = versionOf(object);
  // The state in a list is correct, even if it is older than one already seen: etcd may have been restored from a
  // backup, and then assigns the same versions again.
  const isListed = origin === 'doubting' || origin === 'trusting';
  if (!isListed && isOlder(received, had)) return undefined;
  // A watch sends an event because the object has changed, so its content decides. '' and '0' name no state.
  const isTrusted = origin === 'trusting' || origin === 'part';
  if (isTrusted && had === received && had !== '' && had !== '0') return undefined;
  const merged = basis === existing ? object : reuseUnchanged(existing, object);
  if (merged === existing) return undefined;
  // The same members may be in another order. The parts that are reused need no second comparison.
  return had === received && sameContent(existing, merged) ? undefined : merged;
}
