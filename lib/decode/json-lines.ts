/**
 * Splits a stream of bytes into lines, wherever the network cut it: inside a line or inside a UTF-8 character. The
 * complete lines of a chunk are decoded together, because a newline byte is never part of a longer character.
 */
import { ApiError } from '../meta/api-error.ts';
import { GatheredBytes } from '../transport/gathered-bytes.ts';

const NEWLINE = 10;

/** Turns chunks into the text of complete lines. */
export class LineFramer {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #maxBytes: number;
  readonly #carry = new GatheredBytes();
  /** The error that ended the stream: a line was too long, or not UTF-8. */
  failure: ApiError | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the lines that this chunk completed, joined by newlines, up to a `failure`; '' if it completed none. */
  push(chunk: Uint8Array): string {
    if (this.failure !== undefined) return '';
    const end = chunk.lastIndexOf(NEWLINE);
    if (end === -1) {
      this.#hold(chunk);
      return '';
    }
    const lines =
      this.#carry.length === 0 ? chunk.subarray(0, end) : this.#withHeld(chunk.subarray(0, end));
    const fits = lines.length <= this.#maxBytes;
    const text = (fits ? this.#decode(lines) : undefined) ?? this.#each(lines);
    if (end + 1 < chunk.length) this.#hold(chunk.subarray(end + 1));
    return text;
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

  /** The held bytes followed by these bytes. */
  #withHeld(bytes: Uint8Array): Uint8Array {
    this.#carry.add(bytes);
    return this.#carry.take();
  }

  #hold(bytes: Uint8Array): void {
    if (this.failure !== undefined) return;
    if (this.#carry.length + bytes.length > this.#maxBytes) return this.#tooLong();
    this.#carry.add(bytes);
  }

  #decode(bytes: Uint8Array): string | undefined {
    try {
      return this.#decoder.decode(bytes);
    } catch {
      return undefined;
    }
  }

  /** Decodes line by line, so that the lines before an invalid one are kept. */
  #each(lines: Uint8Array): string {
    const good: string[] = [];
    for (let from = 0; from <= lines.length; ) {
      const newline = lines.indexOf(NEWLINE, from);
      const line = lines.subarray(from, newline === -1 ? lines.length : newline);
      if (line.length > this.#maxBytes) {
        this.#tooLong();
        break;
      }
      const text = this.#decode(line);
      if (text === undefined) {
        this.failure = ApiError.local('Malformed', 'the stream is not UTF-8');
        break;
      }
      good.push(text);
      from += line.length + 1;
    }
    return good.join('\n');
  }

  #tooLong(): void {
    this.#carry.drop();
    this.failure = ApiError.local(
      'TooLarge',
      `a line is longer than ${this.#maxBytes} bytes; raise maxFrameBytes if such objects are expected`,
    );
  }
}
