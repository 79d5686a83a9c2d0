/**
 * Bytes that wait for more. They are copied, because a transport's are lent, and into one buffer:
 * a server that sends one byte a chunk would otherwise have each of them cost a hundred.
 */

const SMALLEST = 4096;

/** Grows as it is filled; `take` empties it. */
export class GatheredBytes {
  #buffer: Uint8Array = new Uint8Array(0);
  length = 0;

  add(bytes: Uint8Array): void {
    const needed = this.length + bytes.length;
    if (needed > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(SMALLEST, bytes.length, this.length * 2, needed));
      grown.set(this.#buffer.subarray(0, this.length));
      this.#buffer = grown;
    }
    this.#buffer.set(bytes, this.length);
    this.length = needed;
  }

  /** What was added, and nothing is held any more. */
  take(): Uint8Array {
    const whole = this.#buffer.subarray(0, this.length);
    this.drop();
    return whole;
  }

  drop(): void {
    this.#buffer = new Uint8Array(0);
    this.length = 0;
  }
}
