/** The listeners of a view, who keep it running. */
import { atEndOfTurn } from '../../rx/drain.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';

interface Entry {
  readonly call: () => void;
  /** The last change that the listener has been told of, or that was there before it. */
  told: number;
}

/** Refuses what is no function at once: otherwise the first change would fail, and not the call. */
function checkListener(listener: unknown): void {
  if (typeof listener === 'function') return;
  throw new TypeError(
    `subscribe: the listener is ${listener === null ? 'null' : typeof listener}; it must be a function, which reads getSnapshot(). To subscribe an observer, use items$ or status$`,
  );
}

/** Listeners, each added as often as it subscribes. */
export class Listeners {
  readonly #listeners = new Set<Entry>();
  #changes = 0;

  get size(): number {
    return this.#listeners.size;
  }

  /** Notes a change, of which the listeners are told by the next `notify`. A listener that joins later is not told. */
  changed(): void {
    this.#changes++;
  }

  /** Adds a listener, and returns the function that removes it and says whether it was still there. */
  add(listener: () => void): () => boolean {
    const entry: Entry = { call: () => listener(), told: this.#changes };
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  /** Calls each listener after a change. */
  tell(): void {
    this.changed();
    this.notify();
  }

  /** Calls each listener that has not been told of the last change. One that throws does not affect the others. */
  notify(): void {
    for (const entry of [...this.#listeners]) {
      if (entry.told === this.#changes || !this.#listeners.has(entry)) continue;
      // A change that a listener makes counts as told for the listeners after it, which read it.
      entry.told = this.#changes;
      try {
        entry.call();
      } catch (error) {
        reportUnhandled(error);
      }
    }
  }
}

/** What runs while somebody holds it, and tells its listeners of changes at the end of a turn. */
export abstract class Held {
  protected readonly listeners: Listeners = new Listeners();
  #holders = 0;
  #isDue = false;

  /** Somebody holds it now. */
  protected abstract entered(isFirst: boolean): void;
  /** Nobody holds it any more. */
  protected abstract left(): void;
  /** Tells the listeners that have not been told. */
  protected abstract tell(): void;

  // A field, so that it works without the object.
  readonly subscribe = (listener: () => void): (() => void) =>
    this.listen(() => this.listeners, listener);

  /** Holds it for a listener, until the returned function is called. */
  protected listen(of: () => Listeners, listener: () => void): () => void {
    checkListener(listener);
    // Held before the listener is added, because React must not be called for the first set, which is in the snapshot.
    this.entered(this.#holders++ === 0);
    const remove = of().add(listener);
    return () => {
      if (remove() && --this.#holders === 0) this.left();
    };
  }

  /** Calls {@link tell} once, at the end of the turn. */
  protected due(rank: number): void {
    if (this.#isDue) return;
    this.#isDue = true;
    atEndOfTurn(rank, () => {
      this.#isDue = false;
      this.tell();
    });
  }
}
