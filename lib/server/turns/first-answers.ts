/**
 * The first answers of queries, which cost the most: users take turns, and between two answers the messages of everybody else are read and
 * sent.
 */
import { type SchedulerLike, Subscription } from 'rxjs';
import { looseTimer } from '../../rx/long-timer.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import type { Budget } from './budget.ts';
import { FairQueue } from './fair-queue.ts';

/** Makes an answer of one user when it is its turn: at once if nobody waits. Unsubscribing takes it out of the queue. */
export type TakeTurn = (answer: () => void) => Subscription;

/** How long answers may take before others come in between, in milliseconds. */
const AT_ONCE_MS = 10;

export class FirstAnswers {
  readonly #scheduler: SchedulerLike;
  readonly #budget: Budget;
  readonly #passedMs: () => number;
  readonly #waiting = new FairQueue<() => void>();
  #isAnswering = false;
  /** How long answers have taken since others came in between. */
  #takenMs = 0;
  /** How long others have for themselves, because a user has used much: half of the time. */
  #restMs = 0;
  #pause = Subscription.EMPTY;

  constructor(scheduler: SchedulerLike, budget: Budget) {
    this.#scheduler = scheduler;
    this.#budget = budget;
    this.#passedMs = stopwatch(scheduler);
  }

  /** Makes an answer of a user. One that is made within another one belongs to it. */
  take(user: string, answer: () => void): Subscription {
    if (this.#isAnswering) {
      answer();
      return Subscription.EMPTY;
    }
    const timed = () => this.#answer(user, answer);
    if (this.#waiting.isEmpty && this.#takenMs < AT_ONCE_MS) {
      timed();
      return Subscription.EMPTY;
    }
    this.#waiting.add(user, timed);
    this.#later();
    return new Subscription(() => this.#waiting.remove(user, timed));
  }

  /** After which time a user may ask for more, in milliseconds. */
  waitMs(user: string): number {
    return this.#budget.waitMs(user);
  }

  #answer(user: string, answer: () => void): void {
    const beganMs = this.#passedMs();
    this.#isAnswering = true;
    try {
      answer();
    } catch (error) {
      // Those who wait are answered.
      reportUnhandled(error);
    } finally {
      this.#isAnswering = false;
      const tookMs = this.#passedMs() - beganMs;
      this.#takenMs += tookMs;
      this.#budget.use(user, tookMs);
      if (this.#budget.isMuch(user)) this.#restMs += tookMs;
      if (this.#takenMs >= AT_ONCE_MS) this.#later();
    }
  }

  #later(): void {
    if (!this.#pause.closed) return;
    this.#pause = looseTimer(this.#restMs, this.#scheduler, () => {
      this.#pause = Subscription.EMPTY;
      this.#restMs = 0;
      this.#takenMs = 0;
      while (this.#takenMs < AT_ONCE_MS && !this.#waiting.isEmpty) this.#waiting.take()?.();
      if (this.#takenMs >= AT_ONCE_MS || !this.#waiting.isEmpty) this.#later();
    });
  }
}
