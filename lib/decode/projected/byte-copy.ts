/** `ByteCopy`, which collects parts of lent bytes as one text. */
import { textOf } from '../json-text.ts';

/** Longer buffers are not kept for the next object. */
const LONGEST_KEPT = 65_536;

/** An instance is reused for every object. Set `length` to 0 to begin again. */
export class ByteCopy {
  length = 0;
  #bytes = new Uint8Array(4096);

  put(byte: number): void {
    if (this.length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.length++] = byte;
  }

  add(bytes: Uint8Array, from: number, to: number): void {
    if (this.length + to - from > this.#bytes.length) this.#grow(to - from);
    this.#bytes.set(bytes.subarray(from, to), this.length);
    this.length += to - from;
  }

  text(): string {
    const text = textOf(this.#bytes, 0, this.length);
    if (this.#bytes.length > LONGEST_KEPT) this.#bytes = new Uint8Array(4096);
    return text;
  }

  #grow(more: number): void {
    const grown = new Uint8Array((this.length + more) * 2);
    grown.set(this.#bytes.subarray(0, this.length));
    this.#bytes = grown;
  }
}
