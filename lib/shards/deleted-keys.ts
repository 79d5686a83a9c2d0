/** The slots of deleted objects, whose UIDs the cache no longer knows. */

/** A deletion for which a reconcile may run. */
export interface Deletion {
  readonly slot: number;
}

/** If a predicate drops deletions, nobody asks for them, so only this many of these outlast their change set. */
const UNASKED = 1_000;

/** Remembers the slots of deleted objects until their keys are done. */
export class DeletedKeys {
  /** The deletions whose keys are queued, or were. */
  readonly #asked = new Map<string, Deletion>();
  readonly #unasked = new Map<string, Deletion>();

  /** How many deletions are remembered. */
  get size(): number {
    return this.#asked.size + this.#unasked.size;
  }

  /**
   * Call this before the deletions of a change set are noted. All of them are kept until the next set, because a set may delete any
   * number of objects, and the sources of a controller ask for them when all are noted.
   */
  beginSet(): void {
    let excess = this.#unasked.size - UNASKED;
    for (const key of this.#unasked.keys()) {
      if (excess-- <= 0) return;
      this.#unasked.delete(key);
    }
  }

  note(key: string, slot: number): void {
    this.forget(key);
    this.#unasked.set(key, { slot });
  }

  get(key: string): Deletion | undefined {
    const deletion = this.#asked.get(key) ?? this.#unasked.get(key);
    if (deletion !== undefined && this.#unasked.delete(key)) this.#asked.set(key, deletion);
    return deletion;
  }

  forget(key: string): void {
    this.#asked.delete(key);
    this.#unasked.delete(key);
  }

  /** Forgets the deletions in slots that are lost: another replica processes their keys. */
  keep(isOwned: (slot: number) => boolean): void {
    for (const deletions of [this.#asked, this.#unasked]) {
      for (const [key, { slot }] of deletions) if (!isOwned(slot)) deletions.delete(key);
    }
  }
}
