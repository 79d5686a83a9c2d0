/** The slots of deleted objects, whose UIDs the cache no longer knows. */

/**
 * One deletion of a key. Compared by identity: if the key is created and deleted again while its reconcile runs, the end of that
 * reconcile must not forget the later deletion.
 */
export interface NotedDeletion {
  readonly slot: number;
}

/** If a predicate drops deletions, nobody asks for them, so only this many of these outlast their change set. */
const UNASKED = 1_000;

/** Remembers the slots of deleted objects until their keys are done. */
export class DeletedKeys {
  /** The deletions whose keys are queued, or were. */
  readonly #asked = new Map<string, NotedDeletion>();
  readonly #unasked = new Map<string, NotedDeletion>();

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

  get(key: string): NotedDeletion | undefined {
    const deletion = this.#asked.get(key) ?? this.#unasked.get(key);
    if (deletion !== undefined && this.#unasked.delete(key)) this.#asked.set(key, deletion);
    return deletion;
  }

  forget(key: string): void {
    this.#asked.delete(key);
    this.#unasked.delete(key);
  }

  /** How many deletions are in these slots. */
  countIn(slots: ReadonlySet<number>): number {
    const noted = [...this.#asked.values(), ...this.#unasked.values()];
    return noted.filter(({ slot }) => slots.has(slot)).length;
  }

  /** Forgets the deletions in slots that are lost, and returns them: another replica processes their keys. */
  keep(isOwned: (slot: number) => boolean): (readonly [key: string, slot: number])[] {
    const lost: (readonly [key: string, slot: number])[] = [];
    for (const deletions of [this.#asked, this.#unasked]) {
      for (const [key, { slot }] of deletions) {
        if (!isOwned(slot) && deletions.delete(key)) lost.push([key, slot]);
      }
    }
    return lost;
  }
}

/**
 * Remembers for a while the deletions in slots that this member does not own. Their owner may be dead, or release the slot, and then
 * the next owner reconciles them.
 */
export class OthersDeletions {
  readonly #keys = new Map<string, { readonly slot: number; readonly untilMs: number }>();

  get size(): number {
    return this.#keys.size;
  }

  note(key: string, slot: number, untilMs: number): void {
    this.#keys.delete(key);
    this.#keys.set(key, { slot, untilMs });
  }

  /** Forgets a key that exists again. */
  forget(key: string): void {
    this.#keys.delete(key);
  }

  /** Forgets what is too old. */
  age(nowMs: number): void {
    for (const [key, { untilMs }] of this.#keys) {
      if (untilMs > nowMs) return;
      this.#keys.delete(key);
    }
  }

  /** How many deletions are in these slots. */
  countIn(slots: ReadonlySet<number>): number {
    return [...this.#keys.values()].filter(({ slot }) => slots.has(slot)).length;
  }

  /** Takes the deletions in slots that are gained. */
  take(slots: ReadonlySet<number>): (readonly [key: string, slot: number])[] {
    const taken: (readonly [key: string, slot: number])[] = [];
    for (const [key, { slot }] of this.#keys) {
      if (slots.has(slot) && this.#keys.delete(key)) taken.push([key, slot]);
    }
    return taken;
  }
}
