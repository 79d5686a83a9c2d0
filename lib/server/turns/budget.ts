/**
 * A budget of a resource (messages, milliseconds of first answers, characters) for each user and for all together, which is refilled
 * steadily. While the budget of all is used up, only users are refused who have used more than a tenth of their own, so that nobody is
 * refused for what others use.
 */
import type { SchedulerLike } from 'rxjs';
import { stopwatch } from '../../rx/stopwatch.ts';

/** The parts of a budget. */
export interface BudgetParts {
  readonly scheduler: SchedulerLike;
  /** How much one user may use in the time. */
  readonly ofUser: number;
  /** How much all users may use in the time. */
  readonly ofAll: number;
  readonly perMs: number;
}

/** How much has been used and is not forgotten. It is forgotten steadily, the whole limit in the time. */
interface Used {
  amount: number;
  atMs: number;
}

/** The share of the limit of one user that is nobody's fault. */
const LITTLE = 0.1;
/** After so many users those are forgotten who use nothing. */
const MOST_REMEMBERED = 1_000;

export class Budget {
  readonly #parts: BudgetParts;
  readonly #passedMs: () => number;
  readonly #byUser = new Map<string, Used>();
  readonly #all: Used = { amount: 0, atMs: 0 };
  #most = MOST_REMEMBERED;

  constructor(parts: BudgetParts) {
    this.#parts = parts;
    this.#passedMs = stopwatch(parts.scheduler);
  }

  /** Notes what a user has used. Returns whether it may use more. */
  use(user: string, amount: number): boolean {
    const { ofUser, ofAll } = this.#parts;
    const used = this.#byUser.get(user) ?? { amount: 0, atMs: this.#passedMs() };
    this.#byUser.set(user, used);
    this.#forget(used, ofUser).amount += amount;
    this.#forget(this.#all, ofAll).amount += amount;
    if (this.#byUser.size > this.#most) this.#sweep();
    return this.waitMs(user) === 0;
  }

  /** Whether a user has used more than is nobody's fault. */
  isMuch(user: string): boolean {
    const { ofUser } = this.#parts;
    const own = this.#byUser.get(user);
    return own !== undefined && this.#forget(own, ofUser).amount > ofUser * LITTLE;
  }

  /** After which time the user may use more, in milliseconds. */
  waitMs(user: string): number {
    const { ofUser, ofAll, perMs } = this.#parts;
    const own = this.#byUser.get(user);
    if (own === undefined) return 0;
    const over = this.#forget(own, ofUser).amount - ofUser;
    const ofOwnMs = (over / ofUser) * perMs;
    const ofAllMs = this.isMuch(user)
      ? ((this.#forget(this.#all, ofAll).amount - ofAll) / ofAll) * perMs
      : 0;
    return Math.max(0, Math.ceil(ofOwnMs), Math.ceil(ofAllMs));
  }

  #forget(used: Used, most: number): Used {
    const nowMs = this.#passedMs();
    const forgotten = ((nowMs - used.atMs) / this.#parts.perMs) * most;
    used.amount = Math.max(0, used.amount - forgotten);
    used.atMs = nowMs;
    return used;
  }

  #sweep(): void {
    for (const [user, used] of this.#byUser) {
      if (this.#forget(used, this.#parts.ofUser).amount === 0) this.#byUser.delete(user);
    }
    this.#most = Math.max(MOST_REMEMBERED, this.#byUser.size * 2);
  }
}
