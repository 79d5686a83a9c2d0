/** A queue in which users take turns, so that one who asks much waits for itself, and for no more than one of each other. */

export class FairQueue<T> {
  /** What waits, by user, in the order of their turns. */
  readonly #waiting = new Map<string, T[]>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** How many of a user wait. */
  countOf(user: string): number {
    return this.#waiting.get(user)?.length ?? 0;
  }

  /** Adds one behind those of the same user. */
  add(user: string, one: T): void {
    const own = this.#waiting.get(user) ?? [];
    this.#waiting.set(user, own);
    own.push(one);
  }

  /** Takes one out that nobody waits for any longer. */
  remove(user: string, one: T): void {
    const left = this.#waiting.get(user)?.filter((each) => each !== one) ?? [];
    if (left.length > 0) this.#waiting.set(user, left);
    else this.#waiting.delete(user);
  }

  /** Takes one of the next user, who goes behind all others: the first, or the one that `choose` returns. */
  take(choose = ([one]: readonly T[]): T | undefined => one): T | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const [user, own] = first;
    const one = choose(own) as T;
    this.#waiting.delete(user);
    this.#waiting.set(user, own);
    this.remove(user, one);
    return one;
  }
}
