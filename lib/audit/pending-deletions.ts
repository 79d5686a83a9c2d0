/** Deletions that the store has not reached yet. */
import { isOlder } from '../meta/resource-version.ts';

/**
 * The deletions at versions that the store has not reached, oldest first. They are kept here because the queue may fold
 * a deletion together with the addition of the object, so that no commit contains it.
 */
export class PendingDeletions {
  readonly #versions = new Map<string, string>();

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.#versions.entries();
  }

  add(key: string, resourceVersion: string): void {
    this.#versions.delete(key);
    this.#versions.set(key, resourceVersion);
  }

  /** Removes the deletions that the store has reached with this version. */
  reached(resourceVersion: string): void {
    for (const [key, version] of this.#versions) {
      if (isOlder(resourceVersion, version)) return;
      this.#versions.delete(key);
    }
  }

  clear(): void {
    this.#versions.clear();
  }
}
