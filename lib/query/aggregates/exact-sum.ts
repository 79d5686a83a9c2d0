/**
 * A sum that is exact, so that removing a number leaves no trace of it and the order of changes does not matter.
 *
 * Integers are added as numbers, and as a bigint beyond 2^53. Other numbers are added as a list of numbers that do not
 * overlap (Shewchuk, "Adaptive precision floating-point arithmetic", 1997; Python's `math.fsum`), which holds the part of
 * each addition that a compensated sum would round off. NaN and the infinities are counted.
 */

const MOST = 9_007_199_254_740_991;

export class ExactSum {
  #count = 0;
  #integers = 0;
  /** The parts that did not fit into `#integers`. */
  #large = 0n;
  /** The parts of the sum of the fractional numbers, by rising magnitude; `#fractional` is how many these are. */
  #parts: number[] = [];
  #fractional = 0;
  #nans = 0;
  #infinities = 0;
  #negativeInfinities = 0;

  /** How many numbers were added and not removed. */
  get count(): number {
    return this.#count;
  }

  add(value: number): void {
    this.#change(value, 1);
  }

  remove(value: number): void {
    this.#change(value, -1);
  }

  /** The number nearest to the sum; beyond 2^53 with fractions, it or the one beside it. */
  get value(): number {
    if (this.#nans > 0) return Number.NaN;
    if (this.#infinities > 0) {
      return this.#negativeInfinities > 0 ? Number.NaN : Number.POSITIVE_INFINITY;
    }
    if (this.#negativeInfinities > 0) return Number.NEGATIVE_INFINITY;
    let integers = this.#integers;
    if (this.#large !== 0n) {
      integers = Number(this.#large + BigInt(integers));
      // How the integers are divided depends on their order, so only their sum may decide how it is rounded.
      if (!Number.isSafeInteger(integers)) return integers + rounded(this.#parts);
    }
    if (this.#fractional === 0) return integers;
    const parts = [...this.#parts];
    grow(parts, integers);
    return rounded(parts);
  }

  #change(value: number, by: 1 | -1): void {
    this.#count += by;
    if (Number.isSafeInteger(value)) this.#addInteger(by * value);
    else if (Number.isNaN(value)) this.#nans += by;
    else if (value === Number.POSITIVE_INFINITY) this.#infinities += by;
    else if (value === Number.NEGATIVE_INFINITY) this.#negativeInfinities += by;
    // A number of this size has no fraction.
    else if (Math.abs(value) > MOST) this.#large += BigInt(by * value);
    else this.#addFractional(by * value, by);
  }

  #addInteger(value: number): void {
    const sum = this.#integers + value;
    if (sum <= MOST && sum >= -MOST) {
      // Not -0, which a sum of 0 and -0 is not either.
      this.#integers = sum + 0;
      return;
    }
    this.#large += BigInt(this.#integers) + BigInt(value);
    this.#integers = 0;
  }

  #addFractional(value: number, by: 1 | -1): void {
    this.#fractional += by;
    if (this.#fractional === 0) this.#parts = [];
    else grow(this.#parts, value);
  }
}

/** Adds a number to a list of numbers that do not overlap, without rounding. */
function grow(parts: number[], value: number): void {
  let x = value;
  let kept = 0;
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] as number;
    const isSmaller = Math.abs(x) < Math.abs(part);
    const large = isSmaller ? part : x;
    const small = isSmaller ? x : part;
    const sum = large + small;
    const lost = small - (sum - large);
    if (lost !== 0) parts[kept++] = lost;
    x = sum;
  }
  parts.length = kept;
  if (x !== 0) parts.push(x);
}

/** The number nearest to the sum of the parts; of two equally near ones the even one. */
function rounded(parts: readonly number[]): number {
  let at = parts.length - 1;
  if (at < 0) return 0;
  let sum = parts[at] as number;
  while (at > 0) {
    const before = sum;
    const part = parts[--at] as number;
    sum = before + part;
    const lost = part - (sum - before);
    if (lost === 0) continue;
    // Half-way cases: the next part decides on which side the sum is.
    const next = at > 0 ? (parts[at - 1] as number) : 0;
    if ((lost < 0 && next < 0) || (lost > 0 && next > 0)) {
      const twice = lost * 2;
      const other = sum + twice;
      if (twice === other - sum) sum = other;
    }
    break;
  }
  return sum;
}
