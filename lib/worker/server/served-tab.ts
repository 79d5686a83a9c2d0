/**
 * One tab that a worker serves. The tab has at most one set of each query that it has not acknowledged; what changes
 * meanwhile is folded by id into the next.
 */
import { Subscription } from 'rxjs';
import { ApiError } from '../../meta/api-error.ts';
import { AFTER_ALL } from '../../query/view/snapshot-of.ts';
import { atEndOfTurn, inTurn } from '../../rx/drain.ts';
import { looseTimer } from '../../rx/long-timer.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import { type CarriedError, carryError, readError } from '../../wire/carried-errors.ts';
import { unsendable } from '../../wire/json-data.ts';
import { type AskedAnswer, type Carriage, type Feed, QueryFeed } from '../../wire/query-feed.ts';
import type { CarriedQuery } from '../carried-query.ts';
import type {
  AskedDifference,
  CarriedEdit,
  Credentials,
  FromWorker,
  OfSession,
  Port,
  Session,
} from '../messages.ts';
import type { EditingTab } from './edits.ts';

/** What the tab is asked: for credentials, or for the draft of an edit. */
interface Question {
  answer(value: unknown): void;
  fail(error: Error): void;
}

/** An answer that knows itself what a tab has not been told. */
export interface FedAnswer {
  /** `onWaiting`: a difference is waiting for `take`. Not called again before. */
  feed(onWaiting: () => void): Feed;
}

/** What a tab asks: the informers of its user. */
export interface TabSession {
  /** Grows with each session of a worker. */
  readonly epoch: number;
  /** Throws if the query is invalid or unknown, or one too many beside those that the tab has. */
  answerOf(query: CarriedQuery, ofTab: number): AskedAnswer | FedAnswer;
  /** Resolves with the object as the server has it. */
  edit(edit: CarriedEdit, tab: EditingTab): Promise<unknown>;
}

/** A query that a tab asks. */
interface Asked {
  readonly query: CarriedQuery;
  readonly feed: Feed;
  /** The set that the tab has not acknowledged. Nothing of the query is sent meanwhile. */
  untold: number | undefined;
  /** Whether the tab has no complete answer yet, which waits for no frame. */
  isUrgent: boolean;
}

export class ServedTab {
  readonly #port: Pick<Port, 'post'>;
  readonly #incarnation: string;
  readonly #carriage: Carriage;
  /** Absent before the tab has said hello, while nobody is signed in, and after the session of the tab has ended. */
  session: TabSession | undefined;
  /** Whether the tab is in a session, or was in one. */
  wasInSession = false;
  isHidden = false;
  hasCredentials = false;
  /** Whether the user has signed in again in this tab last. */
  isNewest = false;
  /** Whether the tab has not answered a question, and has sent nothing since. */
  isSilent = false;
  /** Whether the tab has said hello and not left since. */
  isKnown = false;
  /** Whether a hello of the tab came late, and the tab was asked for another one. */
  wasLate = false;
  /** How many checks the tab has not acknowledged. */
  #missed = 0;
  /** The sets that the tab has not acknowledged. */
  readonly #unacknowledged = new Set<number>();
  /** How many sets the tab was sent. */
  #sets = 0;
  /** The open queries. */
  readonly asked: Map<number, Asked> = new Map();
  /** The ids of the queries that have a difference. */
  readonly #waiting = new Set<number>();
  readonly #questions = new Map<number, Question>();
  readonly #edits = new Map<number, AbortController>();
  #lastQuestion = 0;
  #isScheduled = false;
  readonly #passedMs: () => number;
  /** When the last frame was sent. */
  #sentMs = Number.NEGATIVE_INFINITY;
  /** The next frame, until it is sent. */
  #frame = Subscription.EMPTY;

  constructor(port: Pick<Port, 'post'>, incarnation: string, carriage: Carriage) {
    this.#port = port;
    this.#incarnation = incarnation;
    this.#carriage = carriage;
    this.#passedMs = stopwatch(carriage.scheduler);
  }

  post(message: FromWorker): void {
    this.#port.post(message);
  }

  /** Begins a session, or none. The queries of the former one end. */
  enter(session: TabSession | undefined): void {
    this.leave();
    this.session = session;
    this.wasInSession = true;
  }

  /** Ends all queries and questions. */
  leave(): void {
    this.session = undefined;
    this.isNewest = false;
    for (const { feed } of this.asked.values()) feed.close();
    this.asked.clear();
    this.#waiting.clear();
    this.#frame.unsubscribe();
    this.#unacknowledged.clear();
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
      for (const { feed } of this.asked.values()) isHidden ? feed.hide() : feed.show();
    });
  }

  /** A message of the session of the tab. */
  receive(message: OfSession): void {
    this.isSilent = false;
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

  #carry(error: unknown): CarriedError {
    return (this.#carriage.carry ?? carryError)(error);
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
      const refused = unsendable(() => `edit: ${edit.name}`, base);
      if (refused !== undefined) throw refused;
      const question = ++this.#lastQuestion;
      const answer = this.#answerTo(question);
      this.post({ type: 'base', id, question, base, ...own });
      return await answer;
    };
    let answer: { readonly object: unknown } | { readonly error: CarriedError };
    try {
      answer = { object: await session?.edit(edit, { draftOf, signal: left.signal }) };
    } catch (error) {
      answer = { error: this.#carry(error) };
    }
    this.#edits.delete(id);
    // A tab that has left its session does not learn of it.
    if (this.session === session) this.post({ type: 'edited', id, ...answer, ...own });
  }

  /**
   * Sends an empty message if the tab has acknowledged all others. Returns whether the tab still answers: whether it has
   * missed fewer checks than `most`.
   */
  check(most: number = 2): boolean {
    if (this.#unacknowledged.size > 0) return ++this.#missed < most;
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
        this.#waiting.add(id);
        this.#schedule();
      };
      const { asked } = this;
      const feed =
        asked.get(id)?.feed ?? this.#feed(session.answerOf(query, asked.size), onWaiting);
      asked.set(id, { query, feed, untold: asked.get(id)?.untold, isUrgent: true });
      inTurn(() => (this.isHidden ? feed.hide() : feed.show()));
    } catch (error) {
      this.refuse(id, error);
    }
  }

  #feed(answer: AskedAnswer | FedAnswer, onWaiting: () => void): Feed {
    if ('feed' in answer) return answer.feed(onWaiting);
    return new QueryFeed({ answer, carriage: this.#carriage, onWaiting });
  }

  /** The query cannot be answered. */
  refuse(id: number, error: unknown): void {
    this.#close(id);
    this.post({ type: 'refused', id, error: this.#carry(error), ...this.#session });
  }

  #close(id: number): void {
    this.asked.get(id)?.feed.close();
    this.asked.delete(id);
    this.#waiting.delete(id);
  }

  #acknowledge(set: number | undefined): void {
    this.#missed = 0;
    if (set === undefined || !this.#unacknowledged.delete(set)) return;
    for (const each of this.asked.values()) if (each.untold === set) each.untold = undefined;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    atEndOfTurn(AFTER_ALL, () => {
      this.#isScheduled = false;
      if (this.#isUrgent) return this.#tell();
      if (!this.#frame.closed) return;
      const { scheduler, frameMs = 0 } = this.#carriage;
      const leftMs = this.#sentMs + frameMs - this.#passedMs();
      if (leftMs > 0) this.#frame = looseTimer(leftMs, scheduler, () => this.#take());
      else this.#take();
    });
  }

  #take(): void {
    const tell = () => inTurn(() => this.#tell());
    const turn = this.#carriage.takeTurn?.(tell) ?? tell();
    // A frame that was sent at once may already be followed by the next one.
    if (turn?.closed === false) this.#frame = turn;
  }

  get #isUrgent(): boolean {
    for (const id of this.#waiting) {
      const asked = this.asked.get(id);
      if (asked?.isUrgent && asked.untold === undefined) return true;
    }
    return false;
  }

  /** Sends what has changed in all queries whose last set was acknowledged. */
  #tell(): void {
    this.#frame.unsubscribe();
    const differences: AskedDifference[] = [];
    for (const id of [...this.#waiting]) {
      const asked = this.asked.get(id);
      if (asked === undefined || asked.untold !== undefined) continue;
      this.#waiting.delete(id);
      const difference = asked.feed.take();
      if (difference === undefined) continue;
      asked.isUrgent = !difference.synced || difference.more === true;
      differences.push({ id, ...difference });
    }
    if (differences.length === 0) return;
    this.#sentMs = this.#passedMs();
    this.#send(differences);
  }

  #send(differences: readonly AskedDifference[]): void {
    const set = ++this.#sets;
    this.#unacknowledged.add(set);
    for (const { id } of differences) (this.asked.get(id) as Asked).untold = set;
    const message: FromWorker = { type: 'rows', set, differences, ...this.#session };
    try {
      this.post(message);
    } catch {
      // A proxy is data of JSON, and cannot be copied.
      this.post(JSON.parse(JSON.stringify(message)) as FromWorker);
    }
  }
}
