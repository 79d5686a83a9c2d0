/** Counts those who hold something, which ends when the last of them has left, or some time after that. */
import { type SchedulerLike, Subscription, type TeardownLogic } from 'rxjs';
import { longTimer } from '../long-timer.ts';

/** Calls `end` after the linger: immediately if it is not positive, never if it is infinite. */
export function afterLinger(
  end: () => void,
  lingerMs: number,
  scheduler: SchedulerLike,
): TeardownLogic {
  return lingerMs <= 0 ? end() : longTimer(lingerMs, scheduler).subscribe(end);
}

export class Holders {
  readonly #onEnd: () => void;
  readonly #wait: (end: () => void) => TeardownLogic;
  /** How many there are. Only read it. */
  count = 0;
  #waiting = Subscription.EMPTY;

  /**
   * `onEnd` is called when nobody holds it and `wait`, which is called when the last holder leaves, has called `end`. What
   * `wait` returns is unsubscribed if somebody holds it again before that. @defaultValue it ends immediately
   */
  constructor(onEnd: () => void, wait: (end: () => void) => TeardownLogic = (end) => end()) {
    this.#onEnd = onEnd;
    this.#wait = wait;
  }

  /** Holds it until the returned function is called; only its first call counts. */
  hold(): () => void {
    this.cancel();
    this.count++;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      if (--this.count > 0) return;
      const waiting = new Subscription();
      this.#waiting = waiting;
      const end = () => {
        if (waiting.closed) return;
        waiting.unsubscribe();
        this.#onEnd();
      };
      waiting.add(this.#wait(end));
    };
  }

  /** Ends the wait for the end, so that `onEnd` is not called. */
  cancel(): void {
    this.#waiting.unsubscribe();
  }
}
