/** Reproducible randomness: the same seed gives the same cluster. */
import { seededRandom } from 'rx-informer/testing';

const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

export class Random {
  /** A number in [0, 1). */
  readonly next: () => number;

  constructor(seed: number) {
    this.next = seededRandom(seed);
  }

  /** An integer in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T>(from: readonly T[]): T {
    const one = from[this.below(from.length)];
    if (one === undefined) throw new RangeError('nothing to pick from');
    return one;
  }

  /** A UID in the usual format. */
  uid(): string {
    const hex = (digits: number) =>
      this.below(16 ** digits)
        .toString(16)
        .padStart(digits, '0');
    return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(6)}${hex(6)}`;
  }

  /** Random letters, as the API server appends them to `generateName`. */
  suffix(length: number): string {
    return Array.from({ length }, () => LETTERS[this.below(LETTERS.length)]).join('');
  }
}
