/**
 * Splits a stream of bytes into lines, wherever the network cut it: inside a line or inside a UTF-8 character. A newline
 * byte is never part of a longer character.
 */
import { ApiError } from '../meta/api-error.ts';
import { GatheredBytes } from '../transport/gathered-bytes.ts';

const NEWLINE = 10;

/** Receives the bytes of one line, which are valid during the call. */
export type OnLine = (bytes: Uint8Array, from: number, to: number) => void;

/** Turns chunks into complete lines. */
export class LineFramer {
  readonly #maxBytes: number;
  readonly #carry = new GatheredBytes();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Calls `onLine` for each line that this chunk completed. Throws if a line is too long, after the lines before it. */
  push(chunk: Uint8Array, onLine: OnLine): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      if (this.#carry.length > 0) {
        this.#hold(chunk.subarray(from, end));
        const { bytes, length } = this.#carry;
        this.#carry.clear();
        onLine(bytes, 0, length);
      } else {
        if (end - from > this.#maxBytes) this.#tooLong();
        onLine(chunk, from, end);
      }
      from = end + 1;
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
  }

  /** Throws if the stream ended inside a line. */
  end(): void {
    const held = this.#carry.length;
    if (held === 0) return;
    this.#carry.drop();
    throw ApiError.local(
      'Malformed',
      `the stream ended inside a line (${held} bytes of it were received)`,
    );
  }

  #hold(bytes: Uint8Array): void {
    if (this.#carry.length + bytes.length > this.#maxBytes) this.#tooLong();
    this.#carry.add(bytes);
  }

  #tooLong(): never {
    this.#carry.drop();
    throw ApiError.local(
      'TooLarge',
      `a line is longer than ${this.#maxBytes} bytes; raise maxFrameBytes if such objects are expected`,
    );
  }
}
