/** The turns of questions at the API server: so many at one time and in a second, and users in turn. */
import type { SchedulerLike } from 'rxjs';
import { looseTimer } from '../../rx/long-timer.ts';
import { tokenReservations } from '../../rx/token-bucket.ts';
import { FairQueue } from './fair-queue.ts';

/** The parts of the turns. */
export interface FairTurnsParts {
  readonly scheduler: SchedulerLike;
  /** How many run at one time. */
  readonly atOneTime: number;
  /** How many begin in a second, and how many of them at once. @defaultValue no limit */
  readonly rate?: { readonly perSecond: number; readonly atOnce: number } | undefined;
  /** How many of one user wait. @defaultValue no limit */
  readonly mostWaiting?: number | undefined;
  /** The error of one more. */
  refused?(): Error;
}

export class FairTurns {
  readonly #parts: FairTurnsParts;
  readonly #reserve: () => number;
  readonly #waiting = new FairQueue<() => void>();
  #running = 0;
  #isReserving = false;

  constructor(parts: FairTurnsParts) {
    const { scheduler, rate: { perSecond, atOnce } = { perSecond: 0, atOnce: 0 } } = parts;
    this.#parts = parts;
    this.#reserve = tokenReservations({ qps: perSecond, burst: atOnce, scheduler });
  }

  /** Asks when it is the turn of the user, and returns the answer. Rejects if too many of the user wait. */
  async run<T>(user: string, ask: () => Promise<T>): Promise<T> {
    const { mostWaiting = Number.POSITIVE_INFINITY, refused } = this.#parts;
    if (this.#waiting.countOf(user) >= mostWaiting) throw refused?.();
    await new Promise<void>((resolve) => {
      this.#waiting.add(user, resolve);
      this.#begin();
    });
    try {
      return await ask();
    } finally {
      this.#running--;
      this.#begin();
    }
  }

  #begin(): void {
    const { scheduler, atOneTime } = this.#parts;
    while (!this.#isReserving && this.#running < atOneTime && !this.#waiting.isEmpty) {
      this.#running++;
      const waitMs = this.#reserve();
      if (waitMs === 0) this.#waiting.take()?.();
      else {
        this.#isReserving = true;
        looseTimer(waitMs, scheduler, () => {
          this.#isReserving = false;
          this.#waiting.take()?.();
          this.#begin();
        });
      }
    }
  }
}
