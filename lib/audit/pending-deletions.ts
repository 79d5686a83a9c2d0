/** Ends of objects that a store has not reached yet. */
import { type KubernetesObject, versionOf } from '../meta/kubernetes-object.ts';
import { isOlder } from '../meta/resource-version.ts';
import type { Delta } from '../reflector/delta.ts';

/** When an object ended; '' if that is not known. */
export function endOf<T extends KubernetesObject>(
  delta: Extract<Delta<T>, { type: 'deleted' }>,
): string {
  const { resourceVersion, finalStateUnknown, object } = delta;
  return resourceVersion ?? (finalStateUnknown ? '' : versionOf(object));
}

/**
 * What has ended at a version that the store has not reached, oldest first. The queue may fold such an end away,
 * together with the object that it ends, so that no commit tells of it.
 */
export class PendingDeletions {
  readonly #ends = new Map<string, string>();

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.#ends.entries();
  }

  add(key: string, resourceVersion: string): void {
    this.#ends.delete(key);
    this.#ends.set(key, resourceVersion);
  }

  /** The store is at this version now. */
  reached(resourceVersion: string): void {
    for (const [key, version] of this.#ends) {
      if (isOlder(resourceVersion, version)) return;
      this.#ends.delete(key);
    }
  }

  clear(): void {
    this.#ends.clear();
  }
}
