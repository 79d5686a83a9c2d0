/** A demand that is closed while anybody asks for a pause. */
import { Observable } from 'rxjs';
import type { Demand } from '../rx/demand.ts';

/** Counts who asks for a pause. */
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

  /** Asks for a pause until the answer is called. */
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
