/**
 * An informer of all namespaces, or of those that may be read where all are forbidden: finds out in which namespaces
 * the user may list and watch a resource.
 */
import { defer, type Observable, type SchedulerLike, Subject } from 'rxjs';
import { distinctUntilChanged, exhaustMap, map, startWith } from 'rxjs/operators';
import { sharedInformerOf } from '../informer/create-shared-informer.ts';
import { InformerLifecycle } from '../informer/lifecycle.ts';
import type { SharedInformerOptions } from '../informer/options.ts';
import type { SharedInformer } from '../informer/shared-informer.ts';
import type { LimitedAccess, SourceSet } from '../informer/sources.ts';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Resource, resourceName } from '../meta/resource.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { timingOf } from '../rx/timing.ts';
import type { KubeClient } from '../transport/kube-client.ts';

type Anything = KubernetesObject;

/** The informer of all namespaces that a factory makes. */
interface WholeInformer {
  readonly client: KubeClient;
  readonly resource: Resource<Anything>;
  readonly options: SharedInformerOptions<Anything>;
  /** Creates the ListerWatcher of a namespace, or of all. */
  make(namespace: string | undefined): ListerWatcher<Anything>;
}

/** The option of a factory that {@link namespaceFallback} returns. */
export type NamespaceFallback = (of: WholeInformer) => SharedInformer<KubernetesObject>;

/**
 * Lets the informers of a factory show some namespaces where listing and watching all of them is not permitted: those of
 * these names in which both are permitted. Without names it asks about all namespaces of the cluster, for which the user must be
 * permitted to list namespaces. The server is asked by
 * SelfSubjectAccessReview, when a run begins and after each 403. `status.access` says what is shown and what is missing.
 *
 * Throws a `TypeError` if `namespaces` is not an array.
 *
 * @example
 * ```ts
 * import { createClient, createInformerFactory, namespaceFallback } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const factory = createInformerFactory(client, {
 *   namespaceFallback: namespaceFallback(['shop', 'till']),
 * });
 * factory.informer(pods).name; // => 'pods'
 * ```
 */
export function namespaceFallback(namespaces?: readonly string[]): NamespaceFallback {
  if (namespaces !== undefined && !Array.isArray(namespaces)) {
    throw new TypeError('namespaceFallback: namespaces is not an array; pass names, or nothing');
  }
  return (of) => fallingBack(of, namespaces);
}

/** Creates an informer whose scopes follow the permissions of the user. */
function fallingBack(
  of: WholeInformer,
  namespaces: readonly string[] | undefined,
): SharedInformer<Anything> {
  const { client, resource, options } = of;
  const { scheduler } = timingOf(options);
  const refused = new Subject<void>();
  const everything = of.make(undefined);
  const sources$ = defer(() =>
    permittedScopes(client, resource, {
      namespaces,
      refused$: refused,
      scheduler,
    }),
  ).pipe(
    map((permitted): SourceSet<Anything> => {
      if (permitted === 'all') return { listerWatchers: [everything] };
      // Without a namespace the complete collection is requested, so that the status shows the refusal of the server.
      const scopes = permitted.namespaces.map(of.make);
      return { listerWatchers: scopes.length === 0 ? [everything] : scopes, access: permitted };
    }),
  );
  const onError: SharedInformerOptions<Anything>['onError'] = (error) => {
    if (error.code === 403) refused.next();
    return options.onError?.(error);
  };
  return sharedInformerOf(
    new InformerLifecycle(
      { listerWatchers: [everything], sources$, caller: 'createSharedInformer' },
      { ...options, onError },
    ),
  );
}

/** The scopes that may be read: everything, or some namespaces. */
export type Permitted = 'all' | LimitedAccess;

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
/** How many reviews of a client are requested at the same time. */
const CONCURRENT = 4;
/** How long an answer is valid, in milliseconds. */
const VALID_MS = 60_000;
/** How many namespaces a message names. */
const NAMED = 10;
/** How many pages of namespaces are read. */
const MOST_PAGES = 40;

/** The reviews of one client. */
class Reviews {
  readonly #client: KubeClient;
  readonly #known = new Map<
    string,
    { readonly atMs: number; readonly allowed: Promise<boolean> }
  >();
  readonly #waiting: (() => void)[] = [];
  /** The time on which answers age; informers of one client share it. */
  readonly passedMs: () => number;
  #running = 0;

  constructor(client: KubeClient, scheduler: SchedulerLike) {
    this.#client = client;
    this.passedMs = stopwatch(scheduler);
  }

  /** Whether list and watch are permitted; '' means all namespaces. Answers from before `sinceMs` are not used. */
  async mayRead(
    resource: Resource,
    namespace: string,
    nowMs: number,
    sinceMs: number,
  ): Promise<boolean> {
    const verbs = ['list', 'watch'];
    const allowed = verbs.map((verb) => this.#allowed(resource, namespace, verb, nowMs, sinceMs));
    return (await Promise.all(allowed)).every(Boolean);
  }

  #allowed(
    { group, version, plural }: Resource,
    namespace: string,
    verb: string,
    nowMs: number,
    sinceMs: number,
  ): Promise<boolean> {
    const key = JSON.stringify([group, plural, namespace, verb]);
    const known = this.#known.get(key);
    if (known !== undefined && known.atMs >= sinceMs && nowMs - known.atMs < VALID_MS) {
      return known.allowed;
    }
    const resourceAttributes = { group, version, resource: plural, verb, namespace };
    const allowed = this.#inTurn(async () => {
      const answer = await this.#client.request<{ status?: { allowed?: boolean } }>({
        method: 'POST',
        path: REVIEWS,
        body: {
          kind: 'SelfSubjectAccessReview',
          apiVersion: 'authorization.k8s.io/v1',
          spec: { resourceAttributes },
        },
      });
      return answer.status?.allowed === true;
    });
    this.#known.set(key, { atMs: nowMs, allowed });
    allowed.catch(() => this.#known.delete(key));
    return allowed;
  }

  async #inTurn<V>(task: () => Promise<V>): Promise<V> {
    while (this.#running >= CONCURRENT) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#running++;
    try {
      return await task();
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
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
async function allNamespaces(client: KubeClient): Promise<readonly string[]> {
  const names: string[] = [];
  let token: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const list = await client.request<{
      items: readonly { readonly metadata: { readonly name: string } }[];
      metadata: { readonly continue?: string };
    }>({
      path: '/api/v1/namespaces',
      query: { limit: '500', ...(token === undefined ? {} : { continue: token }) },
      headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' },
    });
    names.push(...list.items.map(({ metadata }) => metadata.name));
    token = list.metadata.continue;
    if (!token) break;
  }
  return names;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).join(', ');
  return names.length > NAMED ? `${shown} and ${names.length - NAMED} more` : shown;
}

async function find(
  client: KubeClient,
  reviews: Reviews,
  resource: Resource,
  given: readonly string[] | undefined,
  nowMs: number,
  sinceMs: number,
): Promise<Permitted> {
  try {
    if (await reviews.mayRead(resource, '', nowMs, sinceMs)) return 'all';
  } catch {
    // A server that reviews nothing decides about the requests themselves.
    return 'all';
  }
  const what = resourceName(resource);
  let candidates: readonly string[];
  let failure = '';
  try {
    candidates = given ?? (await allNamespaces(client));
  } catch (error) {
    candidates = [];
    failure = `. The namespaces cannot be listed either: ${ApiError.from(error, 'LIST namespaces').message}. Name the namespaces in namespaceFallback`;
  }
  const checked = await Promise.all(
    candidates.map(async (name) => ({
      name,
      isPermitted: await reviews.mayRead(resource, name, nowMs, sinceMs).catch(() => true),
    })),
  );
  const named = (isPermitted: boolean) =>
    checked.filter((each) => each.isPermitted === isPermitted).map(({ name }) => name);
  const [namespaces, missing] = [named(true), named(false)];
  const shows = namespaces.length === 0 ? 'no namespace' : `namespaces ${listed(namespaces)}`;
  const lacks = missing.length === 0 ? '' : `. Not permitted in ${listed(missing)}`;
  const message = `listing and watching ${what} in all namespaces is not permitted; shown: ${shows}${lacks}${failure}`;
  return { namespaces, missing, message };
}

/** Emits the scopes that may be read, and again after each `refused$` if they have changed. Never errors. */
function permittedScopes(
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
  return refused$.pipe(
    startWith(undefined),
    // After a 403, earlier answers are not used.
    exhaustMap((_refused, at) => {
      const nowMs = reviews.passedMs();
      const sinceMs = at === 0 ? Number.NEGATIVE_INFINITY : nowMs;
      return find(client, reviews, resource, namespaces, nowMs, sinceMs);
    }),
    distinctUntilChanged((a, b) => JSON.stringify(a) === JSON.stringify(b)),
  );
}
