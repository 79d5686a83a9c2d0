/** The turns of reviews: at most so many in a second, and users in turn, so that one who asks much waits for itself. */
import type { SchedulerLike } from 'rxjs';
import { looseTimer } from '../../rx/long-timer.ts';
import { tokenReservations } from '../../rx/token-bucket.ts';

/** In any second at most 200, those that come at once included. */
const PER_SECOND = 190;
const AT_ONCE = 10;
/** How many reviews of one user wait. */
const MOST_WAITING = 400;

export class ReviewTurns {
  readonly #scheduler: SchedulerLike;
  readonly #reserve: () => number;
  /** Those who wait, by user, in the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isRunning = false;

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler;
    this.#reserve = tokenReservations({ qps: PER_SECOND, burst: AT_ONCE, scheduler });
  }

  /** Resolves when a review of the user may be requested. Rejects if too many of the user wait. */
  next(user: string): Promise<void> {
    const own = this.#waiting.get(user) ?? [];
    if (own.length >= MOST_WAITING) {
      return Promise.reject(new Error(`accessReviews: ${MOST_WAITING} reviews of one user wait`));
    }
    this.#waiting.set(user, own);
    return new Promise((resolve) => {
      own.push(resolve);
      if (!this.#isRunning) this.#run();
    });
  }

  #run(): void {
    this.#isRunning = this.#waiting.size > 0;
    if (!this.#isRunning) return;
    const waitMs = this.#reserve();
    if (waitMs > 0) looseTimer(waitMs, this.#scheduler, () => this.#grant());
    else this.#grant();
  }

  #grant(): void {
    const [first] = this.#waiting;
    if (first !== undefined) {
      const [user, own] = first;
      own.shift()?.();
      this.#waiting.delete(user);
      // Behind all others.
      if (own.length > 0) this.#waiting.set(user, own);
    }
    this.#run();
  }
}
