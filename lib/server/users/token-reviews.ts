/** `tokenReviews`, which asks the API server whose token a client has sent. */
import { check, checkedList, ifGiven } from '../../checks/checked-option.ts';
import { isFields } from '../../meta/json-fields.ts';
import type { EpochMs } from '../../rx/timing.ts';
import type { KubeClient } from '../../transport/kube-client.ts';
import type { ServedUser, SignIn } from './user.ts';

/** The part of the status of a `TokenReview` that is read. */
interface ReviewStatus {
  readonly authenticated?: unknown;
  readonly audiences?: unknown;
  readonly user?: {
    readonly username?: unknown;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
}

/** Options of {@link tokenReviews}. */
export interface TokenReviewsOptions {
  /**
   * The audiences of the server, for one of which a token must be made. @defaultValue those of the API server, so that a token for the
   * API server is accepted
   */
  readonly audiences?: readonly string[] | undefined;
}

const PATH = '/apis/authentication.k8s.io/v1/tokenreviews';
/** Sign-ins wait for no other calls on the same client, such as reviews of rights. */
const LANE = 'TokenReview';

/** When a JSON Web Token ends, which the API server has verified. Other tokens do not say it. */
function endOf(token: string): EpochMs | undefined {
  const [, claims = '', signature] = token.split('.');
  if (signature === undefined) return undefined;
  try {
    const { exp } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/')));
    return typeof exp === 'number' && exp > 0 ? exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes the `signIn` of connections whose clients send `{ token }`: the API server names the user by a `TokenReview`, which the client
 * of the server must be allowed to create. A token of nobody, or of other audiences, is `undefined`. Rejects with an `ApiError` if the API
 * server does not answer, so that the connection ends, and the client tries again.
 *
 * Throws a `TypeError` on an invalid option.
 *
 * @example
 * ```ts
 * import { createClient } from 'rx-informer';
 * import { tokenReviews } from 'rx-informer/server';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const api = createFakeApiServer({ users: { t1: { name: 'ann' }, t2: { name: 'server' } }, allows: () => true });
 * const headers = { authorization: 'Bearer t2' };
 * const signIn = tokenReviews(createClient({ baseUrl: 'http://fake', fetch: api.fetch, headers }));
 * (await signIn({ credentials: { token: 't1' }, identity: '' }))?.name; // => 'ann'
 * await signIn({ credentials: { token: 't9' }, identity: '' }); // => undefined
 * ```
 */
export function tokenReviews(
  client: KubeClient,
  options: TokenReviewsOptions = {},
): (first: SignIn) => Promise<ServedUser | undefined> {
  const { audiences } = options;
  check(typeof client?.request === 'function', 'tokenReviews: client', client, 'a client');
  ifGiven(checkedList, audiences, 'tokenReviews: audiences');
  return async ({ credentials }) => {
    const token = isFields(credentials) ? credentials['token'] : undefined;
    if (typeof token !== 'string' || token === '') return undefined;
    const body = {
      ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' },
      spec: { token, ...(audiences !== undefined && { audiences }) },
    };
    const answer = await client.request<{ status?: ReviewStatus }>({
      method: 'POST',
      path: PATH,
      lane: LANE,
      body,
    });
    const { authenticated, audiences: right, user } = answer.status ?? {};
    if (authenticated !== true || typeof user?.username !== 'string') return undefined;
    // A server that does not know audiences names none, and has not checked them.
    const isMeant =
      audiences === undefined ||
      (Array.isArray(right) && right.some((each) => audiences.includes(each)));
    if (!isMeant) return undefined;
    const { username: name, uid, groups, extra } = user;
    return { name, uid, groups, extra, expiresMs: endOf(token) };
  };
}
