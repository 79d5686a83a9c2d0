/** Asks the server in which namespaces the user may list and watch a resource (SelfSubjectAccessReview). */
import { defer, forkJoin, Observable, of, ReplaySubject, type SchedulerLike, timer } from 'rxjs';
import {
  catchError,
  defaultIfEmpty,
  distinctUntilChanged,
  exhaustMap,
  map,
  mergeMap,
  share,
  startWith,
} from 'rxjs/operators';
import type { LimitedAccess } from '../informer/sources.ts';
import { ApiError } from '../meta/api-error.ts';
import { type Resource, resourceName } from '../meta/resource.ts';
import { exponentialBackoff } from '../rx/backoff.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import type { KubeClient } from '../transport/kube-client.ts';

/** The scopes that may be read: everything, or some namespaces. */
export type Permitted = 'all' | LimitedAccess;

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
/** How many reviews of a client are requested at the same time. */
const CONCURRENT = 4;
/** How long an answer is valid, in milliseconds. */
const VALID_MS = 60_000;
const LONGEST_WAIT_MS = 30_000;
/**
 * The wait after a round of reviews. Reviews may permit what the server then refuses, and each namespace that is followed is
 * refused again and again.
 */
const waitAfter = /* @__PURE__ */ exponentialBackoff({
  baseMs: 1_000,
  capMs: LONGEST_WAIT_MS,
  jitter: 0,
});
/** How many namespaces a message names. */
const NAMED = 10;
/** How many pages of namespaces are read. */
const MOST_PAGES = 40;

/** The answer of a request, which is aborted when nobody waits for it any more. */
function requested<V>(request: (signal: AbortSignal) => Promise<V>): Observable<V> {
  return new Observable((subscriber) => {
    const abort = new AbortController();
    request(abort.signal).then(
      (answer) => {
        subscriber.next(answer);
        subscriber.complete();
      },
      (error) => subscriber.error(error),
    );
    return () => abort.abort();
  });
}

/** The reviews of one client. */
class Reviews {
  readonly #client: KubeClient;
  readonly #known = new Map<
    string,
    { readonly atMs: number; readonly allowed: Observable<boolean> }
  >();
  /** The requests that wait for their turn, in order. */
  readonly #waiting = new Set<() => void>();
  /** The time on which answers age; informers of one client share it. */
  readonly passedMs: () => number;
  #running = 0;

  constructor(client: KubeClient, scheduler: SchedulerLike) {
    this.#client = client;
    this.passedMs = stopwatch(scheduler);
  }

  /** Whether list and watch are permitted; '' means all namespaces. Answers from before `sinceMs` are not used. */
  mayRead(
    resource: Resource,
    namespace: string,
    nowMs: number,
    sinceMs: number,
  ): Observable<boolean> {
    const allowed = ['list', 'watch'].map((verb) =>
      this.#allowed(resource, namespace, verb, nowMs, sinceMs),
    );
    return forkJoin(allowed).pipe(map((each) => each.every(Boolean)));
  }

  #allowed(
    { group, version, plural }: Resource,
    namespace: string,
    verb: string,
    nowMs: number,
    sinceMs: number,
  ): Observable<boolean> {
    const key = JSON.stringify([group, plural, namespace, verb]);
    const known = this.#known.get(key);
    if (known !== undefined && known.atMs >= sinceMs && nowMs - known.atMs < VALID_MS) {
      return known.allowed;
    }
    const resourceAttributes = { group, version, resource: plural, verb, namespace };
    const review = requested((signal) =>
      this.#client.request<{ status?: { allowed?: unknown } } | undefined>({
        method: 'POST',
        path: REVIEWS,
        body: {
          kind: 'SelfSubjectAccessReview',
          apiVersion: 'authorization.k8s.io/v1',
          spec: { resourceAttributes },
        },
        signal,
      }),
    ).pipe(
      map((answer) => {
        const allowed = answer?.status?.allowed;
        if (typeof allowed === 'boolean') return allowed;
        // Not the API server has answered, or not to this request.
        throw new TypeError('the answer is no SelfSubjectAccessReview');
      }),
    );
    // Informers share the review while it is requested, and its answer, but no error.
    const allowed = this.#inTurn(review).pipe(
      share({ connector: () => new ReplaySubject(1), resetOnComplete: false }),
    );
    this.#known.set(key, { atMs: nowMs, allowed });
    return allowed;
  }

  #inTurn<V>(task: Observable<V>): Observable<V> {
    return new Observable((subscriber) => {
      const begin = () => {
        this.#running++;
        subscriber.add(task.subscribe(subscriber));
        subscriber.add(() => {
          this.#running--;
          // Later, because the same call may end those that wait, too.
          queueMicrotask(() => this.#beginNext());
        });
      };
      this.#waiting.add(begin);
      this.#beginNext();
      return () => this.#waiting.delete(begin);
    });
  }

  #beginNext(): void {
    for (const begin of this.#waiting) {
      if (this.#running >= CONCURRENT) return;
      this.#waiting.delete(begin);
      begin();
    }
  }
}

const known = /* @__PURE__ */ new WeakMap<KubeClient, Reviews>();

function reviewsOf(client: KubeClient, scheduler: SchedulerLike): Reviews {
  const reviews = known.get(client) ?? new Reviews(client, scheduler);
  known.set(client, reviews);
  return reviews;
}

/** The names of all namespaces. Rejects if they cannot be listed. */
async function allNamespaces(client: KubeClient, signal: AbortSignal): Promise<readonly string[]> {
  // A namespace that is created meanwhile may move another one to the next page.
  const names = new Set<string>();
  let token: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const list = await client.request<{
      items: readonly { readonly metadata: { readonly name: string } }[];
      metadata: { readonly continue?: string };
    }>({
      path: '/api/v1/namespaces',
      query: { limit: '500', ...(token === undefined ? {} : { continue: token }) },
      headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' },
      signal,
    });
    for (const { metadata } of list.items) names.add(metadata.name);
    token = list.metadata.continue;
    if (!token) break;
  }
  return [...names];
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).join(', ');
  return names.length > NAMED ? `${shown} and ${names.length - NAMED} more` : shown;
}

/** The namespaces that may be read, where all of them may not be. */
function limitedTo(
  resource: Resource,
  checked: readonly { readonly name: string; readonly isPermitted: boolean }[],
  failure: string,
): LimitedAccess {
  const named = (isPermitted: boolean) =>
    checked.filter((each) => each.isPermitted === isPermitted).map(({ name }) => name);
  const [namespaces, missing] = [named(true), named(false)];
  const shows = namespaces.length === 0 ? 'no namespace' : `namespaces ${listed(namespaces)}`;
  const lacks = missing.length === 0 ? '' : `. Not permitted in ${listed(missing)}`;
  const message = `listing and watching ${resourceName(resource)} in all namespaces is not permitted; shown: ${shows}${lacks}${failure}`;
  return { namespaces, missing, message };
}

/** Says when a round of reviews may begin. The waits between rounds grow, and a quiet time ends the series. */
class Rounds {
  #attempt = 0;
  #dueMs = Number.NEGATIVE_INFINITY;

  /** How long a round that is asked for now waits. */
  next(nowMs: number): number {
    if (nowMs - this.#dueMs > LONGEST_WAIT_MS) this.#attempt = 0;
    const atMs = Math.max(nowMs, this.#dueMs);
    this.#dueMs = atMs + waitAfter(this.#attempt++, 0);
    return atMs - nowMs;
  }
}

/**
 * Emits the scopes that may be read, and again after each `refused$` if they have changed. Never errors. When it is
 * unsubscribed, the reviews that no other informer waits for are aborted, and those whose turn has not come are not sent.
 */
export function permittedScopes(
  client: KubeClient,
  resource: Resource,
  options: {
    /** The namespaces to try. @defaultValue all namespaces that a list of namespaces returns */
    readonly namespaces: readonly string[] | undefined;
    /** Emits when a request was refused with a 403. */
    readonly refused$: Observable<unknown>;
    readonly scheduler: SchedulerLike;
  },
): Observable<Permitted> {
  const { namespaces, refused$, scheduler } = options;
  const reviews = reviewsOf(client, scheduler);
  const find = (sinceMs: number, nowMs: number): Observable<Permitted> => {
    // A server that reviews nothing decides about the requests themselves.
    const mayRead = (namespace: string) =>
      reviews.mayRead(resource, namespace, nowMs, sinceMs).pipe(catchError(() => of(true)));
    const check = (names: readonly string[], failure = ''): Observable<LimitedAccess> =>
      forkJoin(
        names.map((name) => mayRead(name).pipe(map((isPermitted) => ({ name, isPermitted })))),
      ).pipe(
        defaultIfEmpty([]),
        map((checked) => limitedTo(resource, checked, failure)),
      );
    const some$ =
      namespaces !== undefined
        ? check(namespaces)
        : requested((signal) => allNamespaces(client, signal)).pipe(
            map((names) => ({ names, failure: '' })),
            catchError((error) => {
              const { message } = ApiError.from(error, 'LIST namespaces');
              const failure = `. The namespaces cannot be listed either: ${message}. Name the namespaces in namespaceFallback`;
              return of({ names: [], failure });
            }),
            mergeMap(({ names, failure }) => check(names, failure)),
          );
    return mayRead('').pipe(mergeMap((mayReadAll) => (mayReadAll ? of('all' as const) : some$)));
  };
  const rounds = new Rounds();
  return refused$.pipe(
    startWith(undefined),
    exhaustMap((_refused, at) => {
      // The first round is not one after a 403.
      const waitMs = at === 0 ? 0 : rounds.next(reviews.passedMs());
      // In a later turn, because a known answer must not replace the ListerWatchers within a call of one of them.
      const begin$ = defer(() => (waitMs > 0 ? timer(waitMs, scheduler) : Promise.resolve()));
      return begin$.pipe(
        mergeMap(() => {
          const nowMs = reviews.passedMs();
          // After a 403, earlier answers are not used.
          return find(at === 0 ? Number.NEGATIVE_INFINITY : nowMs, nowMs);
        }),
      );
    }),
    distinctUntilChanged((a, b) => JSON.stringify(a) === JSON.stringify(b)),
  );
}
