/** `adoptStored`, which makes the stored object the value of a kept document, if it has the same content. */
import type { KnownObjects } from '../../meta/known-objects.ts';
import { type KubernetesObject, uidOf, versionOf } from '../../meta/kubernetes-object.ts';
import { reuseUnchanged } from '../../meta/reuse-unchanged.ts';
import type { KeptDocument } from './document.ts';

/** How many states are read without another look at the store, after it held the value of the document. */
const TRUST = 16;

/**
 * The store may hold another JavaScript object than the one that was decoded, because it takes parts of earlier states
 * (S60). With the stored object as the value of the document, the next state has the same parts as the stored one, so
 * that the store need not compare them again. If it holds another object, the store compares them.
 */
export function adoptStored<T extends KubernetesObject>(
  document: KeptDocument,
  known: KnownObjects<T>,
): void {
  if (document.unchecked > 0) {
    document.unchecked--;
    return;
  }
  const stored = known.get(document.key);
  if (stored === document.value) document.unchecked = TRUST;
  if (stored === undefined || stored === document.value || stored === document.other) return;
  const value = document.value as KubernetesObject;
  if (versionOf(stored) !== versionOf(value) || uidOf(stored) !== uidOf(value)) return;
  // A server that was restored from a backup assigns a version twice, so the content is compared once.
  if (reuseUnchanged(stored, value) === stored) document.value = stored;
  else document.other = stored;
}
