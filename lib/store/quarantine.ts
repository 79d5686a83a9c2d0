/**
 * Objects that exist but that a transform, key or index function refused. They stay out of the store, are known by
 * their key, and are tried again. client-go wedges the informer instead (kubernetes/kubernetes#57705) or skips the
 * object in silence.
 */
import type { Refused } from '../decode/watch-event.ts';

/** Who stays out, and why. Reading costs the same however many they are. */
export interface RefusedObjects {
  readonly size: number;
  get(key: string): Refused | undefined;
  keys(): Iterable<string>;
  /** The latest first, so many at most. */
  latest(limit: number): readonly Refused[];
}

/** The writing side of {@link RefusedObjects}: whoever commits decides. */
export interface Quarantine extends RefusedObjects {
  /** As the latest, also where its key is here. */
  set(refused: Refused): void;
  /** Whether there was such a key. */
  release(key: string): boolean;
  clear(): void;
}

interface Place {
  readonly refused: Refused;
  older: Place | undefined;
  newer: Place | undefined;
}

/** A map whose entries are linked in the order in which they came: a `Map` is read from its oldest end only. */
class LinkedQuarantine implements Quarantine {
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

/** An empty one. */
export function createQuarantine(): Quarantine {
  return new LinkedQuarantine();
}
