/** Decides whether a received object replaces the stored one, by its version, its UID and its origin. */
import { type KubernetesObject, uidOf, versionOf } from '../meta/kubernetes-object.ts';
import { isOlder } from '../meta/resource-version.ts';
import { sameContent } from './same-content.ts';

/**
 * The origin of an object: a watch, a part of a list, or a complete list, whose versions are trusted to mean equal
 * content (`trusting`) or not (`doubting`).
 */
export type Origin = 'watch' | 'part' | 'trusting' | 'doubting';

/** Whether `object` replaces `existing` in the store. */
export function supersedes<T extends KubernetesObject>(
  existing: T | undefined,
  object: T,
  origin: Origin,
): boolean {
  if (existing === undefined || uidOf(existing) !== uidOf(object)) return true;
  if (existing === object) return false;
  const had = versionOf(existing);
  const received = versionOf(object);
  const same = had !== '' && had === received;
  // The state in a list is correct, even if it is older than one already seen: etcd may have been restored from a
  // backup, and then assigns the same versions again.
  if (origin === 'doubting') return !sameContent(existing, object);
  if (origin === 'trusting') return had === '' ? !sameContent(existing, object) : !same;
  return !same && !isOlder(received, had);
}
