/**
 * Work for users that takes long together: first answers of queries, and messages about changed rows. Users take turns, of each comes first
 * what a page paints, and between two slices of the work the messages of everybody else are read and sent.
 */
import { type SchedulerLike, Subscription } from 'rxjs';
import { looseTimer } from '../../rx/long-timer.ts';
import { nextMacrotask } from '../../rx/next-macrotask.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import type { CarriedQuery } from '../../worker/carried-query.ts';
import type { Budget } from './budget.ts';
import { FairQueue } from './fair-queue.ts';

/**
 * Makes an answer of one user when it is its turn: at once if nobody waits. Of the answers of the user, those come first whose rank is
 * least when the turn comes. Unsubscribing takes it out of the queue.
 */
export type TakeTurn = (answer: () => void, rank: () => number) => Subscription;

interface Waiting {
  readonly answer: () => void;
  readonly rank: () => number;
  /** How many have come before it since it has waited longest. */
  passed: number;
}

/** How long a slice takes before others come in between, in milliseconds. */
const AT_ONCE_MS = 25;
/** How many of a user come before the one that has waited longest. */
const MOST_PASSED = 3;

/** The rows of a window are painted, what else a page asks may be counted, and nobody sees a hidden page. */
export function rankOf(query: CarriedQuery, isHidden: boolean): number {
  if (isHidden) return 2;
  // A query with a name has its limit in its parameters, which may be anything.
  const { limit } = (query['params'] ?? query) as { readonly limit?: unknown };
  return typeof limit === 'number' && limit > 0 ? 0 : 1;
}

/** Of equal rank the one that was asked last, because a person waits for it. */
function nextOf(own: readonly Waiting[]): Waiting {
  const [oldest] = own as readonly [Waiting];
  let next = oldest;
  for (const each of own) if (each.rank() <= next.rank()) next = each;
  return next === oldest || oldest.passed++ < MOST_PASSED ? next : oldest;
}

export class Turns {
  readonly #scheduler: SchedulerLike;
  readonly #budget: Budget | undefined;
  readonly #passedMs: () => number;
  readonly #waiting = new FairQueue<Waiting>();
  #isAnswering = false;
  /** How long answers have taken since others came in between. */
  #takenMs = 0;
  /** How long others have for themselves, because a user has used much: half of the time. */
  #restMs = 0;
  #pause = Subscription.EMPTY;

  /** Without a budget nobody pays for the time. */
  constructor(scheduler: SchedulerLike, budget?: Budget) {
    this.#scheduler = scheduler;
    this.#budget = budget;
    this.#passedMs = stopwatch(scheduler);
  }

  /** Makes an answer of a user. One that is made within another one belongs to it. */
  take(user: string, answer: () => void, rank: () => number = () => 0): Subscription {
    if (this.#isAnswering) {
      answer();
      return Subscription.EMPTY;
    }
    const timed = () => this.#answer(user, answer);
    if (this.#waiting.isEmpty && this.#takenMs < AT_ONCE_MS) {
      timed();
      return Subscription.EMPTY;
    }
    const waiting = { answer: timed, rank, passed: 0 };
    this.#waiting.add(user, waiting);
    this.#later();
    return new Subscription(() => this.#waiting.remove(user, waiting));
  }

  /** After which time a user may ask for more, in milliseconds. */
  waitMs(user: string): number {
    return this.#budget?.waitMs(user) ?? 0;
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
      this.#budget?.use(user, tookMs);
      if (this.#budget?.isMuch(user)) this.#restMs += tookMs;
      if (this.#takenMs >= AT_ONCE_MS) this.#later();
    }
  }

  #later(): void {
    if (!this.#pause.closed) return;
    const slice = () => {
      this.#pause = Subscription.EMPTY;
      this.#restMs = 0;
      this.#takenMs = 0;
      // Also choosing takes time, of a user of whom many wait.
      const endMs = this.#passedMs() + AT_ONCE_MS;
      while (this.#passedMs() < endMs && !this.#waiting.isEmpty)
        this.#waiting.take(nextOf)?.answer();
      if (!this.#waiting.isEmpty) this.#later();
    };
    // On a busy machine a process that sleeps for a moment waits long for its next one.
    this.#pause =
      this.#restMs > 0
        ? looseTimer(this.#restMs, this.#scheduler, slice)
        : nextMacrotask(this.#scheduler).subscribe(slice);
  }
}
