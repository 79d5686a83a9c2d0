/** Splits a log into lines, even if a chunk ends inside a line or inside a UTF-8 character. */

/** Turns bytes into lines. Unlike the lines of a watch, these have any content, and the last may lack its line end. */
export class LogLines {
  // A byte order mark is kept, because it is part of the log.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #maxLength: number;
  #open = '';

  /** A longer line is emitted in pieces of `maxLength` characters. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** Returns the lines that this chunk completes. The caller may reuse the chunk's memory afterwards. */
  push(chunk: Uint8Array): string[] {
    return this.#text(this.#decoder.decode(chunk, { stream: true }));
  }

  /** Returns the last line, if it lacks its line end. */
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

  /** Appends full pieces of a line that is too long to `lines`, and returns the rest. */
  #pieces(line: string, lines: string[]): string {
    let from = 0;
    while (line.length - from > this.#maxLength) {
      let to = from + this.#maxLength;
      // A surrogate pair must not be split.
      if (this.#maxLength > 1 && /[\uD800-\uDBFF]/.test(line.charAt(to - 1))) to--;
      lines.push(line.slice(from, to));
      from = to;
    }
    return line.slice(from);
  }
}
