/**
 * The refused objects of a store: they exist on the server, but a transform, key or index function threw for them.
 * They are not stored, are found by their key, and are tried again. client-go blocks the informer instead
 * (kubernetes/kubernetes#57705) or skips the object silently.
 */
import type { Refused } from '../decode/watch-event.ts';

/** The refused objects of a store, with the reasons. The cost of reading does not depend on their number. */
export interface RefusedObjects {
  readonly size: number;
  get(key: string): Refused | undefined;
  keys(): Iterable<string>;
  /** Returns at most `limit` refused objects, the latest first. */
  latest(limit: number): readonly Refused[];
}

/** {@link RefusedObjects} that can be written to. Only the code that commits to the store does so. */
export interface WritableRefusedObjects extends RefusedObjects {
  /** Adds a refused object as the latest, and replaces an earlier one with the same key. */
  set(refused: Refused): void;
  /** Removes a refused object. Returns whether the key existed. */
  release(key: string): boolean;
  clear(): void;
}

interface Place {
  readonly refused: Refused;
  older: Place | undefined;
  newer: Place | undefined;
}

/** Links its entries in the order of arrival, because a `Map` alone can only be read from the oldest entry. */
class LinkedRefusedObjects implements WritableRefusedObjects {
  readonly #places = new Map<string, Place>();
  #latest: Place | undefined;

  get size(): number {
    return this.#places.size;
  }

  get(key: string): Refused | undefined {
    return this.#places.get(key)?.refused;
  }

  keys(): Iterable<string> {
    return this.#places.keys();
  }

  latest(limit: number): readonly Refused[] {
    const shown: Refused[] = [];
    for (let at = this.#latest; at !== undefined && shown.length < limit; at = at.older) {
      shown.push(at.refused);
    }
    return shown;
  }

  set(refused: Refused): void {
    this.release(refused.key);
    const place: Place = { refused, older: this.#latest, newer: undefined };
    if (this.#latest !== undefined) this.#latest.newer = place;
    this.#latest = place;
    this.#places.set(refused.key, place);
  }

  release(key: string): boolean {
    const place = this.#places.get(key);
    if (place === undefined) return false;
    const { older, newer } = place;
    if (older !== undefined) older.newer = newer;
    if (newer === undefined) this.#latest = older;
    else newer.older = older;
    return this.#places.delete(key);
  }

  clear(): void {
    this.#places.clear();
    this.#latest = undefined;
  }
}

/** Creates an empty collection of refused objects. */
export function createRefusedObjects(): WritableRefusedObjects {
  return new LinkedRefusedObjects();
}
