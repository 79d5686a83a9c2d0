/** The listeners of a view. */
import { reportUnhandled } from '../../rx/report-unhandled.ts';

/** Listeners, each added as often as it subscribes. */
export class Listeners {
  readonly #listeners = new Set<{ readonly call: () => void; readonly since: number }>();
  #changes = 0;
  #notified = 0;

  get size(): number {
    return this.#listeners.size;
  }

  /** Notes a change, of which the listeners are told by the next `notify`. A listener that joins later is not told. */
  changed(): void {
    this.#changes++;
  }

  /** Adds a listener, and returns the function that removes it and says whether it was still there. */
  add(listener: () => void): () => boolean {
    const entry = { call: () => listener(), since: this.#changes };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  /** Calls the listeners that joined before the last change. One that throws does not affect the others. */
  notify(): void {
    if (this.#notified === this.#changes) return;
    this.#notified = this.#changes;
    for (const entry of [...this.#listeners]) {
      if (entry.since >= this.#changes || !this.#listeners.has(entry)) continue;
      try {
        entry.call();
      } catch (error) {
        reportUnhandled(error);
      }
    }
  }
}
