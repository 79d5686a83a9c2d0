/** Who sends a request to the fake server: by the token of the request, and by impersonation. */
import { check, checkedList, checkedName } from '../../checks/checked-option.ts';
import { isFields } from '../../meta/json-fields.ts';
import { failure } from '../../object-log/failures.ts';
import type { AccessRule, RequestUser } from './access.ts';
import type { Exchange } from './request.ts';

/** A user, as an API server knows it: the `UserInfo` of a TokenReview. */
export interface FakeUser {
  readonly name: string;
  /** @defaultValue '' */
  readonly uid?: string | undefined;
  /** Without `system:authenticated`, which every user of a token has. @defaultValue [] */
  readonly groups?: readonly string[] | undefined;
  /** @defaultValue {} */
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The audiences for which the token was made. Without them it is valid for the API server only. */
  readonly audiences?: readonly string[] | undefined;
}

const AUTHENTICATED = 'system:authenticated';
/** The audience of the server itself. */
const OWN_AUDIENCE = 'https://kubernetes.default.svc';

function requestUser({ name, uid = '', groups = [], extra = {} }: FakeUser): RequestUser {
  return { name, uid, groups: [...new Set([...groups, AUTHENTICATED])], extra };
}

/** The users of a server, by their tokens. */
export class FakeUsers {
  readonly #tokens: Readonly<Record<string, FakeUser>> | undefined;
  readonly #allows: AccessRule;

  /** Without tokens every request is one of the user `tester`, who may impersonate others. */
  constructor(tokens: Readonly<Record<string, FakeUser>> | undefined, allows: AccessRule) {
    const named = 'createFakeApiServer: users';
    check(tokens === undefined || isFields(tokens), named, tokens, '{ token: { name } }');
    for (const user of Object.values(tokens ?? {})) {
      check(isFields(user), `${named}: a user`, user, '{ name }');
      checkedName(user.name, `${named}: the name of a user`);
      checkedList(user.groups ?? [], `${named}: groups`);
      checkedList(user.audiences ?? [], `${named}: audiences`);
    }
    check(!Object.hasOwn(tokens ?? {}, ''), `${named}: a token`, '', 'text that is not empty');
    this.#tokens = tokens;
    this.#allows = allows;
  }

  /** The user of a token; `undefined` if it is not valid for the server, or for one of the audiences. */
  ofToken(
    token: string,
    audiences: readonly string[] = [OWN_AUDIENCE],
  ): { readonly user: RequestUser; readonly audiences: readonly string[] } | undefined {
    const tokens = this.#tokens ?? {};
    const user = Object.hasOwn(tokens, token) ? tokens[token] : undefined;
    const own = user?.audiences ?? [OWN_AUDIENCE];
    const common = audiences.filter((audience) => own.includes(audience));
    if (user === undefined || common.length === 0) return undefined;
    return { user: requestUser(user), audiences: common };
  }

  /** The user of a request. Throws a 401 without a valid token, and a 403 if the user may not impersonate another one. */
  of({ header }: Exchange): RequestUser {
    const own = this.#authenticated(header('authorization') ?? '');
    const name = header('impersonate-user');
    if (name === null) return own;
    const groups = header('impersonate-group')?.split(/,\s*/) ?? [];
    const uid = header('impersonate-uid') ?? '';
    if (this.#tokens !== undefined) {
      this.#checkImpersonation(own, 'users', name);
      for (const group of groups) this.#checkImpersonation(own, 'groups', group);
      if (uid !== '') this.#checkImpersonation(own, 'uids', uid, 'authentication.k8s.io');
    }
    return requestUser({ name, uid, groups });
  }

  #authenticated(authorization: string): RequestUser {
    if (this.#tokens === undefined) return requestUser({ name: 'tester' });
    const [, token = ''] = /^Bearer (.*)$/i.exec(authorization) ?? [];
    const found = this.ofToken(token);
    if (found === undefined) throw failure(401, 'Unauthorized', 'Unauthorized');
    return found.user;
  }

  #checkImpersonation(
    { name: user, ...own }: RequestUser,
    resource: string,
    name: string,
    group = '',
  ): void {
    const asked = { group, resource, name, namespace: '' };
    if (this.#allows({ user, ...own, verb: 'impersonate', ...asked })) return;
    const message = `${resource} ${JSON.stringify(name)} is forbidden: User "${user}" cannot impersonate resource "${resource}" in API group "${group}" at the cluster scope`;
    throw failure(403, 'Forbidden', message);
  }
}
