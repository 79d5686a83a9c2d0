/** A life that may be begun and ended again and again, and by calls that do not wait for each other. */

/**
 * Makes starts and stops that overlap one story: a start while it stops begins once that stop is done, a further stop takes
 * that start back. So the last call counts, and never are two lives under way.
 */
export class StartStop {
  readonly #begin: () => void;
  readonly #end: () => Promise<void>;
  #stopping: Promise<void> | undefined;
  #again = false;

  /** `begin` bears to be called again while it runs; `end` never rejects. */
  constructor(begin: () => void, end: () => Promise<void>) {
    this.#begin = begin;
    this.#end = end;
  }

  /** The stop that is under way. */
  get stopping(): Promise<void> | undefined {
    return this.#stopping;
  }

  /** Whether it begins anew once the stop that is under way is done. */
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
    // Known before anything is done: whoever is told of it may call again.
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
