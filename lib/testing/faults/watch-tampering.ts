/** Tampers with the lines of one watch: sends events twice or in the wrong order, and cuts the body. */

/** How many events are kept for sending them again. */
const RECENT = 16;

/** A line of a watch. */
export interface Line {
  /** Whether the line may be swapped with another. Events of the log may; bookmarks and errors may not. */
  readonly movable: boolean;
  readonly bytes: Uint8Array;
}

/** The events of a watch, in the order in which they are sent. */
export class EventOrder {
  readonly #source: () => Line | null | undefined;
  readonly #recent: Uint8Array[] = [];
  #swap = false;
  /** Waits for the event to swap with. */
  #first: Line | undefined;
  /** Was overtaken by another line, and is sent next. */
  #late: Line | undefined;

  /** `source` returns `undefined` if no line is due, and `null` at the end. */
  constructor(source: () => Line | null | undefined) {
    this.#source = source;
  }

  /**
   * Whether the next line must be sent in the same chunk. A client that received only the later of two swapped events
   * would resume after both, and could not know that it missed one.
   */
  get mustContinue(): boolean {
    return this.#late !== undefined;
  }

  last(count: number): Uint8Array[] {
    return count > 0 ? this.#recent.slice(-count) : [];
  }

  swap(): void {
    this.#swap = true;
  }

  /** Cancels a swap that has not happened yet, and releases the waiting event. */
  stopSwapping(): void {
    this.#swap = false;
  }

  /** Returns the next line to send. */
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
    // Bookmarks and errors must not overtake an event.
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

/** Ends a body after a number of bytes. */
export class Cut {
  readonly clean: boolean;
  #leftBytes: number;

  constructor(bytes: number, clean: boolean) {
    this.#leftBytes = Math.max(0, bytes);
    this.clean = clean;
  }

  /** Returns the bytes before the cut. `done` means that the cut is reached. */
  take(bytes: Uint8Array): { readonly bytes: Uint8Array; readonly done: boolean } {
    const kept = bytes.subarray(0, this.#leftBytes);
    this.#leftBytes -= kept.length;
    return { bytes: kept, done: this.#leftBytes === 0 };
  }
}
