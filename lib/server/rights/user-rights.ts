/** The rights of one user: asked for each open query, again after a minute, and when the program says that they may have changed. */
import { EMPTY, Observable, ReplaySubject, type SchedulerLike, Subscription, share } from 'rxjs';
import { type Resource, resourceName } from '../../meta/resource.ts';
import { exponentialBackoff } from '../../rx/backoff.ts';
import { looseTimer } from '../../rx/long-timer.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import { sortedJson } from '../../worker/server/answers.ts';
import type { ServedUser } from '../users/user.ts';
import {
  type AskedRights,
  checkedPermitted,
  isSamePermitted,
  type PermittedNamespaces,
  type Rights,
} from './rights.ts';

/** A change of what a user may read, for an audit log. It has nothing of any object. */
export interface RightsDecision {
  readonly user: string;
  /** Such as `pods` or `deployments.apps`. */
  readonly kind: string;
  readonly permitted: PermittedNamespaces;
  /** Set if the rights could not be asked for, so that nothing is permitted. */
  readonly isUnknown?: true | undefined;
}

/** What is decided for a query. */
export type Decision = Pick<RightsDecision, 'permitted' | 'isUnknown'>;

/** The parts of the rights of a user. */
export interface UserRightsParts {
  readonly user: ServedUser;
  readonly rights: Rights;
  readonly scheduler: SchedulerLike;
  readonly random: () => number;
  onDecision?: ((decision: RightsDecision) => void) | undefined;
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

const waitAfter = /* @__PURE__ */ exponentialBackoff({ baseMs: 1_000, capMs: 30_000, jitter: 0.2 });

const NOTHING: Decision = { permitted: [] };
const UNKNOWN: Decision = { permitted: [], isUnknown: true };

export class UserRights {
  readonly #parts: UserRightsParts;
  readonly #passedMs: () => number;
  readonly #followed = new Map<string, Observable<Decision>>();

  constructor(parts: UserRightsParts) {
    this.#parts = parts;
    this.#passedMs = stopwatch(parts.scheduler);
  }

  /** What the user may read of a kind, and again when it changes. Equal questions are asked once. Never errors. */
  decisions(kind: Resource, asked: AskedRights): Observable<Decision> {
    const key = sortedJson([kind.group, kind.plural, asked]);
    const known = this.#followed.get(key);
    if (known !== undefined) return known;
    const followed = new Observable<Decision>((subscriber) => {
      const questions = new Questions(this.#parts, kind, asked, this.#passedMs, (decision) =>
        subscriber.next(decision),
      );
      subscriber.add(questions);
      subscriber.add(() => this.#followed.delete(key));
    }).pipe(share({ connector: () => new ReplaySubject(1) }));
    this.#followed.set(key, followed);
    return followed;
  }
}

/** The questions about one kind, while a query is open. */
class Questions extends Subscription {
  readonly #parts: UserRightsParts;
  readonly #kind: Resource;
  readonly #asked: AskedRights;
  readonly #passedMs: () => number;
  readonly #decide: (decision: Decision) => void;
  #last: Decision | undefined;
  /** When the last question was answered. */
  #answeredMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #question = 0;
  #next = Subscription.EMPTY;

  constructor(
    parts: UserRightsParts,
    kind: Resource,
    asked: AskedRights,
    passedMs: () => number,
    decide: (decision: Decision) => void,
  ) {
    super();
    this.#parts = parts;
    this.#kind = kind;
    this.#asked = asked;
    this.#passedMs = passedMs;
    this.#decide = decide;
    this.add(() => this.#next.unsubscribe());
    const { changes$ = EMPTY } = parts.rights;
    this.add(
      changes$.subscribe({
        next: (concerns) => {
          if (concerns(parts.user)) this.#askIn(CHANGE_MS + CHANGE_SPREAD_MS * parts.random());
        },
        error: (error) => parts.report(error),
      }),
    );
    void this.#ask();
  }

  #askIn(waitMs: number): void {
    this.#next.unsubscribe();
    if (this.closed) return;
    this.#next = looseTimer(waitMs, this.#parts.scheduler, () => void this.#ask());
  }

  async #ask(): Promise<void> {
    const own = ++this.#question;
    const { user, rights } = this.#parts;
    this.#next.unsubscribe();
    this.#next = looseTimer(ANSWER_MS, this.#parts.scheduler, () => {
      this.#question++;
      this.#failed(new Error(`serveUsers: rights: no answer within ${ANSWER_MS} ms`));
    });
    try {
      const permitted = checkedPermitted(await rights(user, this.#kind, this.#asked));
      if (own === this.#question && !this.closed) this.#answered(permitted);
    } catch (error) {
      if (own === this.#question && !this.closed) this.#failed(error);
    }
  }

  #answered(permitted: PermittedNamespaces): void {
    this.#failures = 0;
    this.#answeredMs = this.#passedMs();
    const spread = 1 - SPREAD + 2 * SPREAD * this.#parts.random();
    this.#askIn(AGAIN_MS * spread);
    this.#become(permitted.length === 0 ? NOTHING : { permitted });
  }

  #failed(error: unknown): void {
    if (this.#failures === 0) this.#parts.report(error);
    const waitMs = waitAfter(this.#failures++, this.#parts.random());
    const leftMs = this.#answeredMs + AGAIN_MS * (1 + SPREAD) + GRACE_MS - this.#passedMs();
    // What was permitted a moment ago is not taken away by a question that fails, and what was never permitted is not given by it.
    if (leftMs <= 0) this.#become(UNKNOWN);
    this.#askIn(leftMs > 0 ? Math.min(waitMs, leftMs) : waitMs);
  }

  #become(decision: Decision): void {
    const last = this.#last;
    const isSame =
      last !== undefined &&
      isSamePermitted(last.permitted, decision.permitted) &&
      last.isUnknown === decision.isUnknown;
    if (isSame) return;
    this.#last = decision;
    const { user, onDecision } = this.#parts;
    try {
      onDecision?.({ user: user.name, kind: resourceName(this.#kind), ...decision });
    } catch (error) {
      this.#parts.report(error);
    }
    this.#decide(decision);
  }
}
