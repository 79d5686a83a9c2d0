/**
 * Collects chunks of bytes into one growing buffer. The bytes are copied, because a transport reuses its buffers.
 * They are copied into one buffer, because keeping each chunk by itself would cost about a hundred bytes per chunk,
 * and a server may send one byte per chunk.
 */

const SMALLEST = 4096;
const LARGEST_KEPT = 65_536;

/** A growing buffer. `take` empties it. */
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

  /** The collected bytes, from the first one to `length`. Valid until the next call of a method. */
  get bytes(): Uint8Array {
    return this.#buffer;
  }

  /** Empties the buffer, and keeps it for the next bytes unless it is large. */
  clear(): void {
    if (this.#buffer.length > LARGEST_KEPT) this.drop();
    else this.length = 0;
  }

  /** Returns the collected bytes and empties the buffer. */
  take(): Uint8Array {
    const bytes = this.#buffer.subarray(0, this.length);
    this.drop();
    return bytes;
  }

  drop(): void {
    this.#buffer = new Uint8Array(0);
    this.length = 0;
  }
}
