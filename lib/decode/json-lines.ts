/**
 * Cuts a stream of bytes into lines, wherever the network cut it: inside a line, inside a UTF-8 character.
 * Text is decoded once for all whole lines of a chunk, because a newline byte is never part of a longer
 * character.
 */
import { ApiError } from '../meta/api-error.ts';

const NEWLINE = 10;

/** Copies, because a transport's bytes are lent. */
function join(parts: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Chunks in, text of whole lines out. */
export class LineFramer {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #maxBytes: number;
  #carry: Uint8Array[] = [];
  #carried = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The whole lines that this chunk closed, joined by newlines; '' when it closed none. */
  push(chunk: Uint8Array): string {
    const end = chunk.lastIndexOf(NEWLINE);
    if (end === -1) {
      this.#hold(chunk);
      return '';
    }
    const lines = chunk.subarray(0, end);
    const first = chunk.indexOf(NEWLINE);
    if (this.#carried + first > this.#maxBytes) throw this.#tooLong();
    let text: string;
    if (this.#carried === 0) text = this.#decode(lines);
    else {
      this.#carry.push(lines);
      text = this.#decode(join(this.#carry, this.#carried + lines.length));
    }
    this.#carry = [];
    this.#carried = 0;
    if (end + 1 < chunk.length) this.#hold(chunk.subarray(end + 1));
    return text;
  }

  /** Throws when the stream ended inside a line. */
  end(): void {
    if (this.#carried === 0) return;
    const held = this.#carried;
    this.#carry = [];
    this.#carried = 0;
    throw ApiError.local('Malformed', `the stream ended inside a line (${held} bytes of it came)`);
  }

  #hold(bytes: Uint8Array): void {
    this.#carried += bytes.length;
    if (this.#carried > this.#maxBytes) throw this.#tooLong();
    // Not slice(): a Buffer answers that with a view of the lent bytes.
    this.#carry.push(new Uint8Array(bytes));
  }

  #decode(bytes: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes);
    } catch {
      throw ApiError.local('Malformed', 'the stream is not UTF-8');
    }
  }

  #tooLong(): ApiError {
    this.#carry = [];
    this.#carried = 0;
    return ApiError.local(
      'TooLarge',
      `a line is longer than ${this.#maxBytes} bytes; raise maxFrameBytes if that is right`,
    );
  }
}
