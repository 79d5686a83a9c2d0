/** The rights of one user: asked for each open query, again after a minute, and when the program says that they may have changed. */
import {
  defer,
  EMPTY,
  Observable,
  ReplaySubject,
  type SchedulerLike,
  Subscription,
  share,
} from 'rxjs';
import { type Resource, resourceName } from '../../meta/resource.ts';
import { exponentialBackoff } from '../../rx/backoff.ts';
import { looseTimer } from '../../rx/long-timer.ts';
import { sortedJson } from '../../worker/server/answers.ts';
import type { ServedUser } from '../users/user.ts';
import {
  type AskedRights,
  checkedPermitted,
  isCut,
  isSamePermitted,
  type Rights,
  type RightsDecision,
} from './rights.ts';

/** What is decided for a query. */
export type Decision = Pick<RightsDecision, 'permitted' | 'isUnknown' | 'isCut'>;

/** The parts of the rights of a user. */
export interface UserRightsParts {
  readonly user: ServedUser;
  readonly rights: Rights;
  readonly scheduler: SchedulerLike;
  readonly random: () => number;
  onDecision?: ((decision: RightsDecision) => unknown) | undefined;
  /** Tells the program why rights could not be asked for. */
  report(error: unknown): void;
}

/** How long a decision is followed before it is asked again, in milliseconds. Users are spread by a tenth of it. */
const AGAIN_MS = 60_000;
const SPREAD = 0.1;
/** How long a permission outlives a question that fails, in milliseconds. */
const GRACE_MS = 30_000;
/** How long an answer may take, in milliseconds. */
const ANSWER_MS = 15_000;
/** After which time, and over how long, questions after a change are asked, in milliseconds. The API server learns of it at the same time. */
const CHANGE_MS = 500;
const CHANGE_SPREAD_MS = 1_000;

/** Of how many questions a user's last decisions are remembered. */
const MOST_DECIDED = 1_000;

const waitAfter = /* @__PURE__ */ exponentialBackoff({ baseMs: 1_000, capMs: 30_000, jitter: 0.2 });

const UNKNOWN: Decision = { permitted: [], isUnknown: true };

export class UserRights {
  readonly #parts: UserRightsParts;
  readonly #followed = new Map<string, Observable<Decision>>();
  /** What was decided last for each question, also of queries that were closed since. */
  readonly #decided = new Map<string, Decision>();

  constructor(parts: UserRightsParts) {
    this.#parts = parts;
  }

  /** What the user may read of a kind, and again when it changes. Equal questions are asked once. Never errors. */
  decisions(kind: Resource, asked: AskedRights): Observable<Decision> {
    const key = sortedJson([kind.group, kind.plural, asked]);
    // Looked up by each subscriber, because a query is subscribed to again after all have left, and that of a hidden page never.
    return defer(() => this.#followed.get(key) ?? this.#follow(key, kind, asked));
  }

  #follow(key: string, kind: Resource, asked: AskedRights): Observable<Decision> {
    const followed = new Observable<Decision>((subscriber) => {
      const questions = new Questions(this.#parts, kind, asked, (decision) => {
        this.#tell(key, { ...decision, kind: resourceName(kind), asked });
        subscriber.next(decision);
      });
      subscriber.add(questions);
      subscriber.add(() => this.#followed.delete(key));
    }).pipe(share({ connector: () => new ReplaySubject(1) }));
    this.#followed.set(key, followed);
    return followed;
  }

  /** Tells the program of a decision, unless the last one on the question was the same. */
  #tell(key: string, decision: Omit<RightsDecision, 'user'>): void {
    const { user, onDecision, report } = this.#parts;
    const last = this.#decided.get(key);
    this.#decided.delete(key);
    this.#decided.set(key, decision);
    const [oldest] = this.#decided.keys();
    if (this.#decided.size > MOST_DECIDED && oldest !== undefined) this.#decided.delete(oldest);
    if (last !== undefined && isSame(last, decision)) return;
    // It may return a promise.
    const told = async () => await onDecision?.({ user: user.name, ...decision });
    told().catch(report);
  }
}

function isSame(one: Decision, other: Decision): boolean {
  return (
    isSamePermitted(one.permitted, other.permitted) &&
    one.isUnknown === other.isUnknown &&
    one.isCut === other.isCut
  );
}

/** The questions about one kind, while a query is open. */
class Questions extends Subscription {
  readonly #parts: UserRightsParts;
  readonly #kind: Resource;
  readonly #asked: AskedRights;
  readonly #decide: (decision: Decision) => void;
  #last: Decision | undefined;
  #failures = 0;
  /** Ends what is permitted, after questions have failed for a while. */
  #grace = Subscription.EMPTY;
  /** Counts the questions; an answer to a former one is not taken. */
  #question = 0;
  #isAsking = false;
  /** Whether rights have changed since the question that is being answered. */
  #hasChanged = false;
  #next = Subscription.EMPTY;

  constructor(
    parts: UserRightsParts,
    kind: Resource,
    asked: AskedRights,
    decide: (decision: Decision) => void,
  ) {
    super();
    this.#parts = parts;
    this.#kind = kind;
    this.#asked = asked;
    this.#decide = decide;
    this.add(() => {
      this.#next.unsubscribe();
      this.#grace.unsubscribe();
    });
    const { changes$ = EMPTY } = parts.rights;
    const { report } = parts;
    this.add(
      changes$.subscribe({
        next: (concerns) => {
          try {
            if (concerns(parts.user)) this.#changed();
          } catch (error) {
            report(error);
          }
        },
        error: report,
      }),
    );
    void this.#ask();
  }

  #changed(): void {
    if (this.#isAsking) this.#hasChanged = true;
    else this.#askSoon();
  }

  #askSoon(): void {
    this.#askIn(CHANGE_MS + CHANGE_SPREAD_MS * this.#parts.random());
  }

  #askIn(waitMs: number): void {
    this.#next.unsubscribe();
    if (this.closed) return;
    this.#next = looseTimer(waitMs, this.#parts.scheduler, () => void this.#ask());
  }

  async #ask(): Promise<void> {
    const own = ++this.#question;
    const { user, rights, scheduler } = this.#parts;
    const end = (then: () => void) => {
      if (own !== this.#question || this.closed) return;
      this.#question++;
      this.#isAsking = false;
      then();
      if (this.#hasChanged) this.#askSoon();
      this.#hasChanged = false;
    };
    this.#isAsking = true;
    this.#next.unsubscribe();
    this.#next = looseTimer(ANSWER_MS, scheduler, () =>
      end(() => this.#failed(new Error(`serveUsers: rights: no answer within ${ANSWER_MS} ms`))),
    );
    try {
      const given = await rights(user, this.#kind, this.#asked);
      end(() => this.#answered(given));
    } catch (error) {
      end(() => this.#failed(error));
    }
  }

  #answered(given: unknown): void {
    let decision = UNKNOWN;
    try {
      const permitted = checkedPermitted(given);
      decision = { permitted, ...(isCut(given) && { isCut: true }) };
    } catch (error) {
      this.#parts.report(error);
    }
    this.#failures = 0;
    this.#grace.unsubscribe();
    this.#askIn(AGAIN_MS * (1 - SPREAD + 2 * SPREAD * this.#parts.random()));
    this.#become(decision);
  }

  #failed(error: unknown): void {
    const { report, random, scheduler } = this.#parts;
    if (this.#failures === 0) {
      report(error);
      // What was permitted is not taken away by a question that fails, and what was never permitted is not given by it.
      this.#grace = looseTimer(GRACE_MS, scheduler, () => this.#become(UNKNOWN));
    }
    this.#askIn(waitAfter(this.#failures++, random()));
  }

  #become(decision: Decision): void {
    if (this.#last !== undefined && isSame(this.#last, decision)) return;
    this.#last = decision;
    this.#decide(decision);
  }
}
