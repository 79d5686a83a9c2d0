/** `Random`, numbers from a seed, so that every document and every chain can be repeated by itself. */

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995;
  }

  /** A number from 0 to 1, without 1: mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** True in `share` of all calls. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  /** One of the values, of which there is at least one. */
  of<V>(values: readonly V[]): V {
    return values[this.below(values.length)] as V;
  }

  shuffled<V>(values: readonly V[]): V[] {
    const left = [...values];
    const taken: V[] = [];
    while (left.length > 0) taken.push(...left.splice(this.below(left.length), 1));
    return taken;
  }
}
