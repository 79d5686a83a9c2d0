/** The slots of deleted objects, whose UIDs the cache no longer knows. */

/** A deletion for which a reconcile may run. */
export interface Deletion {
  readonly slot: number;
}

/** Most deletions are never asked for, if a predicate drops them, so only this many of these are kept. */
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

  note(key: string, slot: number): void {
    this.forget(key);
    this.#unasked.set(key, { slot });
    if (this.#unasked.size <= UNASKED) return;
    const [oldest = ''] = this.#unasked.keys();
    this.#unasked.delete(oldest);
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
