/** Runs the edits of one object one after another. */

export class Turns {
  /** The last run of each name, settled when the next one may begin. */
  readonly #last = new Map<string, Promise<void>>();

  /** Calls `run` immediately, and returns its result. `run` must wait for `before`, which settles after all earlier runs of the name. */
  async take<V>(name: string, run: (before: Promise<void> | undefined) => Promise<V>): Promise<V> {
    const before = this.#last.get(name);
    const done = run(before);
    // The next run also waits for those that an aborted one has waited for. No result is kept.
    const settled = Promise.allSettled([before, done]).then(() => undefined);
    this.#last.set(name, settled);
    void settled.then(() => {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    });
    return await done;
  }
}
