/** Cuts a log into lines, wherever the network cut it: inside a line, inside a UTF-8 character. */

/** Bytes in, whole lines out; unlike watch lines, a log's may be anything and the last may lack its end. */
export class LogLines {
  // A log may begin with a byte order mark, which is the writer's to keep.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #maxLength: number;
  #open = '';

  /** A longer line comes in pieces of `maxLength` characters. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** The lines that this chunk closed. The bytes may be lent. */
  push(chunk: Uint8Array): string[] {
    return this.#text(this.#decoder.decode(chunk, { stream: true }));
  }

  /** What the log ended with. */
  end(): string[] {
    const lines = this.#text(this.#decoder.decode());
    if (this.#open !== '') lines.push(this.#open);
    this.#open = '';
    return lines;
  }

  #text(text: string): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      const line = this.#pieces(this.#open + text.slice(from, end), lines);
      lines.push(line);
      this.#open = '';
      from = end + 1;
    }
    this.#open = this.#pieces(this.#open + text.slice(from), lines);
    return lines;
  }

  /** Moves whole pieces out of a line that is too long; answers with the rest. */
  #pieces(line: string, lines: string[]): string {
    let from = 0;
    while (line.length - from > this.#maxLength) {
      let to = from + this.#maxLength;
      // Never between the halves of a character.
      if (this.#maxLength > 1 && /[\uD800-\uDBFF]/.test(line.charAt(to - 1))) to--;
      lines.push(line.slice(from, to));
      from = to;
    }
    return from === 0 ? line : line.slice(from);
  }
}
