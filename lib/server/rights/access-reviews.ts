/** `accessReviews`, which asks the API server what a user may list and watch (SubjectAccessReview). */
import { asyncScheduler, type SchedulerLike, Subscription } from 'rxjs';
import { check } from '../../checks/checked-option.ts';
import type { Resource } from '../../meta/resource.ts';
import { looseTimer } from '../../rx/long-timer.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import { timingOf } from '../../rx/timing.ts';
import type { KubeClient } from '../../transport/kube-client.ts';
import { FairTurns } from '../turns/fair-turns.ts';
import { accountOf, keyOfUser, type ServedUser } from '../users/user.ts';
import { type Bindings, BoundNamespaces, type Concerns } from './bound-namespaces.ts';
import { cutAnswer, MOST_NAMESPACES, type Rights } from './rights.ts';

/** Options of {@link accessReviews}. */
export interface AccessReviewsOptions {
  /**
   * The informer of the RoleBindings of all namespaces, such as `factory.informer(roleBindings)`. For queries that name no namespace it proposes
   * those in which a user is bound, and when a binding changes, its users are reviewed again. It permits nothing by itself.
   * @defaultValue such queries show nothing to users who may not read all namespaces, and changes are noticed within a minute
   */
  readonly bindings?: Bindings | undefined;
  /** @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

const PATH = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
/** Reviews wait for no other calls on the same client, and no other calls for them. */
const LANE = 'SubjectAccessReview';
/** How long an answer is valid, in milliseconds. */
const VALID_MS = 30_000;
/** How long an answer may take, in milliseconds. */
const ANSWER_MS = 5_000;

/** How many reviews are asked at one time, so that they wait here, in turns, and little before the rate limit of the client. */
const AT_ONE_TIME = 20;
/** In any second at most 200, those that come at once included. */
const RATE = { perSecond: 190, atOnce: 10 };
/** How many reviews of one user wait. */
const MOST_WAITING = 400;

/** What is reviewed. */
interface Attributes {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly verb: 'list' | 'watch';
  readonly namespace: string;
  readonly name?: string | undefined;
}

interface Reviewed {
  readonly atMs: number;
  readonly allowed: Promise<boolean>;
}

/** The answers for a user, also those that are being requested. */
interface ReviewsOfUser {
  readonly user: ServedUser;
  readonly answers: Map<string, Reviewed>;
}

class Reviewer {
  readonly #client: KubeClient;
  readonly #scheduler: SchedulerLike;
  readonly #turns: FairTurns;
  readonly #passedMs: () => number;
  readonly #known = new Map<string, ReviewsOfUser>();
  #sweep = Subscription.EMPTY;

  constructor(client: KubeClient, scheduler: SchedulerLike) {
    this.#client = client;
    this.#scheduler = scheduler;
    this.#passedMs = stopwatch(scheduler);
    this.#turns = new FairTurns({
      ...{ scheduler, atOneTime: AT_ONE_TIME, rate: RATE, mostWaiting: MOST_WAITING },
      refused: () => new Error(`accessReviews: ${MOST_WAITING} reviews of one user wait`),
    });
  }

  /** Whether a user may list and watch; '' means all namespaces. Rejects if the API server does not answer. */
  async mayRead(
    user: ServedUser,
    { group, version, plural }: Resource,
    namespace: string,
    name: string | undefined,
  ): Promise<boolean> {
    const asked = {
      group,
      version,
      resource: plural,
      namespace,
      ...(name !== undefined && { name }),
    };
    // Watch is not asked for where list is refused.
    for (const verb of ['list', 'watch'] as const) {
      if (!(await this.#allowed(user, { ...asked, verb }))) return false;
    }
    return true;
  }

  /** Asks again for these users. */
  forget(concerns: Concerns): void {
    for (const [key, { user }] of this.#known) if (concerns(user)) this.#known.delete(key);
  }

  #allowed(user: ServedUser, attributes: Attributes): Promise<boolean> {
    const now = this.#passedMs();
    const key = keyOfUser(user);
    const { answers } = this.#known.get(key) ?? { answers: new Map<string, Reviewed>() };
    this.#known.set(key, { user, answers });
    if (this.#sweep.closed) this.#sweepLater();
    const asked = JSON.stringify(Object.values(attributes));
    const known = answers.get(asked);
    if (known !== undefined && now - known.atMs < VALID_MS) return known.allowed;
    const allowed = this.#turns.run(accountOf(user), () => this.#review(user, attributes));
    answers.set(asked, { atMs: now, allowed });
    // No failure is remembered.
    allowed.catch(() => answers.get(asked)?.allowed === allowed && answers.delete(asked));
    return allowed;
  }

  /** Forgets the answers that are no longer valid. */
  #sweepLater(): void {
    this.#sweep = looseTimer(VALID_MS, this.#scheduler, () => {
      const now = this.#passedMs();
      for (const [key, { answers }] of this.#known) {
        for (const [asked, { atMs }] of answers) {
          if (now - atMs >= VALID_MS) answers.delete(asked);
        }
        if (answers.size === 0) this.#known.delete(key);
      }
      this.#sweep.unsubscribe();
      if (this.#known.size > 0) this.#sweepLater();
    });
  }

  async #review(
    { name, uid, groups, extra }: ServedUser,
    resourceAttributes: Attributes,
  ): Promise<boolean> {
    const abort = new AbortController();
    const late: Subscription = looseTimer(ANSWER_MS, this.#scheduler, () => abort.abort());
    try {
      const answer = await this.#client.request<{ status?: { allowed?: unknown } } | undefined>({
        method: 'POST',
        path: PATH,
        lane: LANE,
        body: {
          ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' },
          spec: { user: name, uid, groups, extra, resourceAttributes },
        },
        signal: abort.signal,
      });
      return answer?.status?.allowed === true;
    } finally {
      late.unsubscribe();
    }
  }
}

/**
 * Makes the rights of `serveUsers({ factory, kinds, rights })`: a user may read what the API server permits to list and to watch, by
 * SubjectAccessReviews that the client of the server must be allowed to create. They have the name, uid, groups and extra of the user as
 * `signIn` has returned them; no group is added.
 *
 * First all namespaces are reviewed, then those that a query names, or in which the user is bound (at most 100). A query with the field
 * selector `metadata.name=x` is reviewed with that name. Answers are valid for 30 seconds, and open queries are reviewed
 * again each minute, at most 200 reviews a second of users in turn, or as many as the `qps` of the client allows (50 by default). An answer
 * that is not `allowed: true` permits nothing. Without an answer within 5 seconds, what was permitted stays so for half a minute.
 *
 * Throws a `TypeError` on an invalid option.
 *
 * @example
 * ```ts
 * import { createClient, createInformerFactory } from 'rx-informer';
 * import { pods, roleBindings } from 'rx-informer/resources';
 * import { accessReviews, serveUsers } from 'rx-informer/server';
 *
 * const client = createClient({ baseUrl: 'http://localhost:8001' });
 * const factory = createInformerFactory(client);
 * const rights = accessReviews(client, { bindings: factory.informer(roleBindings) });
 * const users = serveUsers({ factory, kinds: [pods], rights });
 * factory.start();
 * users.counts.users; // => 0
 * users.drain();
 * await factory.stop();
 * ```
 */
export function accessReviews(client: KubeClient, options: AccessReviewsOptions = {}): Rights {
  const { bindings, scheduler = asyncScheduler } = options;
  check(typeof client?.request === 'function', 'accessReviews: client', client, 'a client');
  const isInformer = bindings === undefined || typeof bindings?.indexer?.list === 'function';
  check(isInformer, 'accessReviews: bindings', bindings, 'the informer of roleBindings');
  timingOf({ scheduler });
  const reviewer = new Reviewer(client, scheduler);
  const bound = bindings && new BoundNamespaces(bindings, (concerns) => reviewer.forget(concerns));
  const rights: Rights = async (user, kind, { namespaces, name }) => {
    if (await reviewer.mayRead(user, kind, '', name)) return 'all';
    if (!kind.namespaced) return [];
    const proposed = namespaces ?? (await bound?.of(user)) ?? [];
    const tried = proposed.slice(0, MOST_NAMESPACES);
    const may = await Promise.all(
      tried.map((namespace) => reviewer.mayRead(user, kind, namespace, name)),
    );
    const permitted = tried.filter((_namespace, at) => may[at] === true);
    return tried.length < proposed.length ? cutAnswer(permitted) : permitted;
  };
  return bound === undefined ? rights : Object.assign(rights, { changes$: bound.changes$ });
}
