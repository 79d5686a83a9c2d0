/** A demand that is closed while at least one consumer requests a pause. */
import { Observable } from 'rxjs';
import type { Demand } from '../rx/demand.ts';

/** Counts the requested pauses. */
export class PauseCounter {
  #count = 0;
  readonly #waiting = new Set<() => void>();

  /** Closed while the count is not zero. */
  readonly demand: Demand = () =>
    this.#count === 0
      ? null
      : new Observable<void>((subscriber) => {
          const open = () => {
            subscriber.next();
            subscriber.complete();
          };
          this.#waiting.add(open);
          return () => this.#waiting.delete(open);
        });

  /** Requests a pause, until the returned function is called. */
  pause(): () => void {
    this.#count++;
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#count--;
      if (this.#count > 0) return;
      const waiting = [...this.#waiting];
      this.#waiting.clear();
      for (const open of waiting) open();
    };
  }
}
