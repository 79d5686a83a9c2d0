/** What may be done to the lines of one watch on their way: sent twice, in the wrong order, cut. */

/** So many events are kept to be sent again. */
const RECENT = 16;

/** Events in the order in which they leave. */
export class EventOrder {
  readonly #source: () => Uint8Array | undefined;
  readonly #recent: Uint8Array[] = [];
  #swap = false;
  /** Waits for the event that is to come before it. */
  #first: Uint8Array | undefined;
  /** Comes after the one that it has let pass. */
  #late: Uint8Array | undefined;

  constructor(source: () => Uint8Array | undefined) {
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

  /** The next event that may leave. `mayWait`: nothing else is due that could overtake it. */
  next(mayWait: boolean): Uint8Array | undefined {
    const late = this.#late;
    this.#late = undefined;
    if (late !== undefined) return late;
    const first = this.#first ?? this.#logged();
    this.#first = undefined;
    if (!this.#swap || first === undefined) return first;
    const second = this.#logged();
    if (second !== undefined) {
      this.#swap = false;
      this.#late = first;
      return second;
    }
    if (!mayWait) return first;
    this.#first = first;
    return undefined;
  }

  #logged(): Uint8Array | undefined {
    const line = this.#source();
    if (line === undefined) return undefined;
    this.#recent.push(line);
    if (this.#recent.length > RECENT) this.#recent.shift();
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
