/** Coordinates starts and stops that may overlap, for controllers and electors. */

/**
 * Serializes overlapping starts and stops so that the last call counts. A start during a stop takes effect when that stop is done,
 * and a further stop cancels that start. So two runs never overlap.
 */
export class StartStop {
  readonly #begin: () => void;
  readonly #end: () => Promise<void>;
  #stopping: Promise<void> | undefined;
  #again = false;

  /** `begin` may be called while it is running; `end` never rejects. */
  constructor(begin: () => void, end: () => Promise<void>) {
    this.#begin = begin;
    this.#end = end;
  }

  /** The stop in progress. */
  get stopping(): Promise<void> | undefined {
    return this.#stopping;
  }

  /** Whether a start waits for the stop in progress. */
  get again(): boolean {
    return this.#again;
  }

  start(): void {
    if (this.#stopping === undefined) this.#begin();
    else this.#again = true;
  }

  stop(): Promise<void> {
    this.#again = false;
    if (this.#stopping !== undefined) return this.#stopping;
    // Set before `end` runs, because a listener that `end` notifies may call start() or stop().
    let resolve = () => {};
    const stopping = new Promise<void>((done) => {
      resolve = done;
    });
    this.#stopping = stopping;
    void this.#end().then(() => {
      const again = this.#again;
      this.#again = false;
      this.#stopping = undefined;
      resolve();
      if (again) this.#begin();
    });
    return stopping;
  }
}
