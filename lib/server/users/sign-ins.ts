/** The questions who the user of a connection is. Open connections are asked about at once; first sign-ins take turns by address. */
import { type SchedulerLike, Subscription } from 'rxjs';
import { looseTimer } from '../../rx/long-timer.ts';
import { FairTurns } from '../turns/fair-turns.ts';

/** Calls `signIn`. */
export type AskUser = () => unknown;

/** The times of sign-ins, in milliseconds. */
export const SIGN_IN = {
  /** How long one may take, also until the first message comes. */
  limitMs: 10_000,
  /** How often a user is verified again. */
  againMs: 60_000,
  /** How long a verification is valid while later ones fail. */
  validMs: 120_000,
  /** How long after a failure it is tried again. */
  retryMs: 5_000,
  /** How long before the end of the credentials new ones are asked for. */
  earlyMs: 30_000,
  /** How long to wait at least before new ones are asked for. */
  renewalMs: 5_000,
} as const;

/** How many first sign-ins are asked at one time. */
const AT_ONE_TIME = 20;

export class SignIns {
  readonly #scheduler: SchedulerLike;
  readonly #turns: FairTurns;

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler;
    this.#turns = new FairTurns({ scheduler, atOneTime: AT_ONE_TIME });
  }

  /** The answer to a first sign-in. Rejects when `life` ends, which makes room for others. */
  first(address: string, life: Subscription, ask: AskUser): Promise<unknown> {
    return this.#turns.run(address, () => this.#ask(life, Number.POSITIVE_INFINITY, ask));
  }

  /** The answer about the user of an open connection. Rejects when `life` ends, and after 10 seconds. */
  again(life: Subscription, ask: AskUser): Promise<unknown> {
    return this.#ask(life, SIGN_IN.limitMs, ask);
  }

  #ask(life: Subscription, limitMs: number, ask: AskUser): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const waiting = looseTimer(limitMs, this.#scheduler, () =>
        reject(new Error(`signIn: no answer within ${limitMs} ms`)),
      );
      const left = new Subscription(() => reject(new Error('signIn: the connection has ended')));
      waiting.add(left);
      life.add(waiting);
      // Not for one that has ended while it waited.
      const answer = async () => (life.closed ? undefined : await ask());
      answer()
        .then(resolve, reject)
        .finally(() => waiting.unsubscribe());
    });
  }
}
