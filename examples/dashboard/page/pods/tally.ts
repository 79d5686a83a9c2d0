/** Counts pods by a key. Each change adds or subtracts, so its cost does not depend on the number of pods. */

/** A key and its count. */
export interface Count {
  readonly key: string;
  readonly count: number;
}

/** A multiset of keys. */
export class Tally {
  readonly #counts = new Map<string, number>();
  #sorted: readonly Count[] | undefined = [];

  add(key: string): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.#sorted = undefined;
  }

  remove(key: string): void {
    const left = (this.#counts.get(key) ?? 0) - 1;
    if (left > 0) this.#counts.set(key, left);
    else this.#counts.delete(key);
    this.#sorted = undefined;
  }

  clear(): void {
    this.#counts.clear();
    this.#sorted = [];
  }

  /** The counts, sorted by key. Returns the same array until a count changes. */
  get counts(): readonly Count[] {
    this.#sorted ??= [...this.#counts]
      .map(([key, count]) => ({ key, count }))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
    return this.#sorted;
  }
}
