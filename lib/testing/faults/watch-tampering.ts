/** What may be done to the lines of one watch on their way: sent twice, in the wrong order, cut. */

/** So many events are kept to be sent again. */
const RECENT = 16;

/** A line of a watch. */
export interface Line {
  /** An event of the log, which may change places with another; bookmarks and errors may not. */
  readonly movable: boolean;
  readonly bytes: Uint8Array;
}

/** Events in the order in which they leave. */
export class EventOrder {
  readonly #source: () => Line | null | undefined;
  readonly #recent: Uint8Array[] = [];
  #swap = false;
  /** Waits for the event that is to come before it. */
  #first: Line | undefined;
  /** Comes after the one that it has let pass. */
  #late: Line | undefined;

  /** `source` answers `undefined` if no line is due, and `null` at the end. */
  constructor(source: () => Line | null | undefined) {
    this.#source = source;
  }

  /** One must follow in the same chunk: whoever had the later of two alone could not know what it missed. */
  get owes(): boolean {
    return this.#late !== undefined;
  }

  last(count: number): Uint8Array[] {
    return count > 0 ? this.#recent.slice(-count) : [];
  }

  swap(): void {
    this.#swap = true;
  }

  /** No more swapping; who waits need not. */
  settle(): void {
    this.#swap = false;
  }

  /** The next line that may leave. */
  next(): Uint8Array | undefined {
    return this.#next()?.bytes;
  }

  #next(): Line | null | undefined {
    const late = this.#late;
    this.#late = undefined;
    if (late !== undefined) return late;
    const first = this.#first ?? this.#pull();
    this.#first = undefined;
    if (!this.#swap || !first?.movable) return first;
    const second = this.#pull();
    if (second === null) return first;
    if (second === undefined) {
      this.#first = first;
      return undefined;
    }
    if (second.movable) {
      this.#swap = false;
      this.#late = first;
      return second;
    }
    // Neither a bookmark nor an error may overtake an event.
    this.#late = second;
    return first;
  }

  #pull(): Line | null | undefined {
    const line = this.#source();
    if (line?.movable) {
      this.#recent.push(line.bytes);
      if (this.#recent.length > RECENT) this.#recent.shift();
    }
    return line;
  }
}

/** A body that ends after so many bytes. */
export class Cut {
  readonly clean: boolean;
  #leftBytes: number;

  constructor(bytes: number, clean: boolean) {
    this.#leftBytes = Math.max(0, bytes);
    this.clean = clean;
  }

  /** What is let through of these bytes; `ends`: nothing more is. */
  take(bytes: Uint8Array): { readonly bytes: Uint8Array; readonly ends: boolean } {
    const kept = bytes.subarray(0, this.#leftBytes);
    this.#leftBytes -= kept.length;
    return { bytes: kept, ends: this.#leftBytes === 0 };
  }
}
