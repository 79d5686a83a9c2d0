/** Opens the queries of one connection, and shows its page, when it is the turn of its user. */
import { Subscription } from 'rxjs';
import type { OfSession, Session } from '../../worker/messages.ts';
import type { ServedTab } from '../../worker/server/served-tab.ts';
import { rankOf, type Turns } from '../turns/turns.ts';
import { tooMany } from './limits.ts';

/** Asks a query. */
type Open = Extract<OfSession, { readonly type: 'open' }> & Session;

/** The parts of the queries. */
export interface QueriesInTurnParts {
  readonly tab: ServedTab;
  readonly answers: Turns;
  /** How many queries the connection has open. */
  readonly most: number;
}

export class QueriesInTurn {
  readonly #parts: QueriesInTurnParts;
  /** The queries whose first answer waits for its turn, by id. */
  readonly #waiting = new Map<number, Subscription>();
  #showing = Subscription.EMPTY;

  constructor(parts: QueriesInTurnParts) {
    this.#parts = parts;
  }

  /** Opens a query of a user. */
  open(account: string, message: Open): void {
    const { id } = message;
    const { tab, answers, most } = this.#parts;
    const { asked } = tab;
    this.close(id);
    if (!asked.has(id) && asked.size + this.#waiting.size >= most) {
      const text = `a connection may have ${most} queries (limits.queries); close some first`;
      return tab.refuse(id, tooMany(text));
    }
    const answer = () => {
      this.#waiting.delete(id);
      const waitMs = answers.waitMs(account);
      if (waitMs === 0) return tab.receive(message);
      const text = `the first answers of this user have taken too long (limits.answerMsPerMinuteOfUser); ask again in ${Math.ceil(waitMs / 1_000)} s`;
      tab.refuse(id, tooMany(text, waitMs));
    };
    const waiting = answers.take(account, answer, () => rankOf(message.query, tab.isHidden));
    if (!waiting.closed) this.#waiting.set(id, waiting);
  }

  /** Nobody waits any longer for the first answer of a query. */
  close(id: number): void {
    this.#waiting.get(id)?.unsubscribe();
    this.#waiting.delete(id);
  }

  /** Hides the page at once. To show it, each of its queries is answered from the beginning. */
  hide(account: string, isHidden: boolean): void {
    const { tab, answers } = this.#parts;
    this.#showing.unsubscribe();
    if (isHidden) tab.hide(true);
    else this.#showing = answers.take(account, () => tab.hide(false));
  }

  /** Nobody waits for anything any longer. */
  leave(): void {
    this.#showing.unsubscribe();
    for (const id of [...this.#waiting.keys()]) this.close(id);
  }
}
