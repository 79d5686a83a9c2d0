/** The listeners of a view, who keep it running. */
import { refusal } from '../../checks/checked-option.ts';
import { atEndOfTurn } from '../../rx/drain.ts';
import { Hub } from '../../rx/sharing/hub.ts';

/** Refuses what is no function at once: otherwise the first change would fail, and not the call. */
function checkListener(listener: unknown): void {
  if (typeof listener === 'function') return;
  const must =
    'a function, which reads getSnapshot(). To subscribe an observer, use items$ or status$';
  throw refusal('subscribe: the listener', listener, must);
}

/** Listeners, each added as often as it subscribes. The position counts changes; one that joins later is not told of them. */
export type Listeners = Hub<() => void>;

/**
 * Calls each listener that has not been told of the last change. A change that a listener makes counts as told for the
 * listeners after it, which read it.
 */
export function notify(listeners: Listeners): void {
  listeners.tell((listener) => listener(), listeners.position);
}

/** The base of views: it runs while it has listeners, and tells them of changes at the end of a turn. */
export abstract class Held {
  protected readonly listeners: Listeners = new Hub();
  #holders = 0;
  #isDue = false;

  /** It has another listener, perhaps its first. */
  protected abstract entered(isFirst: boolean): void;
  /** Its last listener has left. */
  protected abstract left(): void;
  /** Tells the listeners that have not been told. */
  protected abstract tell(): void;

  // A field, so that it works without the object.
  readonly subscribe = (listener: () => void): (() => void) =>
    this.listen(() => this.listeners, listener);

  /** Adds a listener to those of the view or of a row, until the returned function is called. */
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
