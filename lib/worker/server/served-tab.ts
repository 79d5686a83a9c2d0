/**
 * One tab that a worker serves. The tab receives at most one message with rows that it has not acknowledged; what changes
 * meanwhile is folded by id into the next.
 */
import { ApiError } from '../../meta/api-error.ts';
import { atEndOfTurn, inTurn } from '../../rx/drain.ts';
import { type CarriedError, carryError, readError } from '../carried-errors.ts';
import type { CarriedQuery } from '../carried-query.ts';
import type {
  CarriedEdit,
  Credentials,
  FromWorker,
  OfSession,
  Port,
  Session,
} from '../messages.ts';
import { isTooDeep, tooDeep } from './depth.ts';
import { QueryFeed } from './query-feed.ts';
import type { OwnSession } from './session.ts';
import { uncopiedPlace } from './uncopied-place.ts';

type Differences = Extract<FromWorker, { type: 'rows' }>['differences'];

/** After all views have been brought up to date. */
const AFTER_ALL = 1e9;

/** What the tab is asked: for credentials, or for the draft of an edit. */
interface Question {
  answer(value: unknown): void;
  fail(error: Error): void;
}

export class ServedTab {
  readonly port: Port;
  readonly #incarnation: string;
  /** Absent before the tab has said hello, while nobody is signed in, and after the session of the tab has ended. */
  session: OwnSession | undefined;
  /** Whether the tab is in a session, or was in one. */
  wasInSession = false;
  isHidden = false;
  hasCredentials = false;
  /** Whether the tab has said hello and not left since. */
  isKnown = false;
  /** Whether a hello of the tab came late, and the tab was asked for another one. */
  wasLate = false;
  /** How many checks the tab has not acknowledged. */
  #missed = 0;
  #awaitsAck = false;
  /** How many sets the tab was sent. */
  #sets = 0;
  /** The open queries. */
  readonly feeds: Map<number, QueryFeed> = new Map();
  readonly #waiting = new Map<number, QueryFeed>();
  readonly #questions = new Map<number, Question>();
  readonly #edits = new Map<number, AbortController>();
  #lastQuestion = 0;
  #isScheduled = false;

  constructor(port: Port, incarnation: string) {
    this.port = port;
    this.#incarnation = incarnation;
  }

  post(message: FromWorker): void {
    this.port.post(message);
  }

  /** Begins a session, or none. The queries of the former one end. */
  enter(session: OwnSession | undefined): void {
    this.leave();
    this.session = session;
    this.wasInSession = true;
  }

  /** Ends all queries and questions. */
  leave(): void {
    this.session = undefined;
    for (const feed of this.feeds.values()) feed.close();
    this.feeds.clear();
    this.#waiting.clear();
    this.#awaitsAck = false;
    this.#missed = 0;
    for (const edit of this.#edits.values()) edit.abort();
    this.#edits.clear();
    const gone = ApiError.local('Credentials', 'the tab that was asked has left');
    for (const { fail } of [...this.#questions.values()]) fail(gone);
  }

  /** Shows or hides the rows of the tab. */
  hide(isHidden: boolean): void {
    if (isHidden === this.isHidden) return;
    this.isHidden = isHidden;
    inTurn(() => {
      for (const feed of this.feeds.values()) isHidden ? feed.hide() : feed.show();
    });
  }

  /** A message of the session of the tab. */
  receive(message: OfSession): void {
    if (message.type === 'ack') this.#acknowledge(message.set);
    else if (message.type === 'open') this.#open(message.id, message.query);
    else if (message.type === 'close') this.#close(message.id);
    else if (message.type === 'edit') void this.#edit(message.id, message.edit);
    else if (message.type === 'edit-abort') this.#edits.get(message.id)?.abort();
    else if (message.type === 'draft' || message.type === 'credentials') {
      const question = this.#questions.get(message.id);
      const value = message.type === 'draft' ? message.draft : message.headers;
      if (value !== undefined) question?.answer(value);
      else question?.fail(readError(message.error ?? carryError('the tab has no answer')));
    }
  }

  /** Asks the tab for credentials. */
  ask(): { readonly answer: Promise<Credentials>; cancel(): void } {
    const id = ++this.#lastQuestion;
    this.post({ type: 'credentials', id, ...this.#session });
    const answer = this.#answerTo(id) as Promise<Credentials>;
    return { answer, cancel: () => this.#questions.delete(id) };
  }

  #answerTo(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const settled =
        <V>(settle: (value: V) => void) =>
        (value: V) => {
          this.#questions.delete(id);
          settle(value);
        };
      this.#questions.set(id, { answer: settled(resolve), fail: settled(reject) });
    });
  }

  async #edit(id: number, edit: CarriedEdit): Promise<void> {
    const { session } = this;
    const left = new AbortController();
    this.#edits.set(id, left);
    const own = this.#session;
    const draftOf = async (base: unknown): Promise<unknown> => {
      if (isTooDeep(base)) throw tooDeep(`edit: ${edit.name}`);
      const question = ++this.#lastQuestion;
      const answer = this.#answerTo(question);
      this.post({ type: 'base', id, question, base, ...own });
      return await answer;
    };
    let answer: { readonly object: unknown } | { readonly error: CarriedError };
    try {
      answer = { object: await session?.edit(edit, { draftOf, signal: left.signal }) };
    } catch (error) {
      answer = { error: carryError(error) };
    }
    this.#edits.delete(id);
    // A tab that has left its session does not learn of it.
    if (this.session === session) this.post({ type: 'edited', id, ...answer, ...own });
  }

  /** Sends an empty message if the tab has acknowledged all others. Returns whether the tab still answers. */
  check(): boolean {
    if (this.#awaitsAck) return ++this.#missed < 2;
    this.#send([]);
    return true;
  }

  get #session(): Session {
    return { incarnation: this.#incarnation, epoch: this.session?.epoch ?? 0 };
  }

  #open(id: number, query: CarriedQuery): void {
    try {
      const { session } = this;
      if (session === undefined) return;
      const onWaiting = () => {
        this.#waiting.set(id, feed);
        this.#schedule();
      };
      const feed: QueryFeed =
        this.feeds.get(id) ??
        new QueryFeed({ id, query, answer: session.answerOf(query), onWaiting });
      this.feeds.set(id, feed);
      inTurn(() => (this.isHidden ? feed.hide() : feed.show()));
    } catch (error) {
      this.#refuse(id, error);
    }
  }

  #refuse(id: number, error: unknown): void {
    this.#close(id);
    this.post({ type: 'refused', id, error: carryError(error), ...this.#session });
  }

  #close(id: number): void {
    this.feeds.get(id)?.close();
    this.feeds.delete(id);
    this.#waiting.delete(id);
  }

  #acknowledge(set = this.#sets): void {
    this.#missed = 0;
    if (!this.#awaitsAck || set !== this.#sets) return;
    this.#awaitsAck = false;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    atEndOfTurn(AFTER_ALL, () => {
      this.#isScheduled = false;
      if (this.#awaitsAck || this.#waiting.size === 0) return;
      const waiting = [...this.#waiting.values()];
      this.#waiting.clear();
      const differences = waiting.flatMap((feed) => feed.take() ?? []);
      if (differences.length > 0) this.#send(differences);
    });
  }

  #send(differences: Differences): void {
    try {
      this.post({ type: 'rows', set: ++this.#sets, differences, ...this.#session });
      this.#awaitsAck = true;
    } catch (error) {
      this.#sendCopyable(differences, error);
    }
  }

  /** Refuses the queries with rows that cannot be copied, for example with functions, and sends those of the others. */
  #sendCopyable(differences: Differences, error: unknown): void {
    const refused = new Set<number>();
    for (const difference of differences) {
      try {
        structuredClone(difference);
      } catch (cause) {
        refused.add(difference.id);
        const why = `${uncopiedPlace(difference)}${carryError(cause).message}`;
        const what = `the rows of the query cannot be sent to a tab: ${why}`;
        this.#refuse(difference.id, new TypeError(`${what}; select data only`));
      }
    }
    if (refused.size === 0) throw error;
    const others = differences.filter(({ id }) => !refused.has(id));
    if (others.length > 0) this.#send(others);
  }
}
