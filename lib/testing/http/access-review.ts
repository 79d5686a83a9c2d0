/** Answers the reviews of an API server: who a token is, and what a user may do, by the rule that decides about requests. */
import { isFields } from '../../meta/json-fields.ts';
import { badRequest, failure } from '../../object-log/failures.ts';
import { objectIn } from '../writes/writes.ts';
import type { AccessRule, RequestUser } from './access.ts';
import type { Exchange } from './request.ts';
import type { FakeUsers } from './users.ts';

type Fields = Readonly<Record<string, unknown>>;

const REVIEWS = {
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews': 'SelfSubjectAccessReview',
  '/apis/authorization.k8s.io/v1/subjectaccessreviews': 'SubjectAccessReview',
  '/apis/authentication.k8s.io/v1/tokenreviews': 'TokenReview',
} as const;

/** What a review needs. */
export interface ReviewContext {
  readonly allows: AccessRule;
  readonly users: FakeUsers;
}

/** The fields of a review. A field of another type is a 400, as from a server that decodes it. */
class ReviewSpec {
  readonly #kind: string;
  readonly #path: string;
  readonly #fields: Fields;

  constructor(kind: string, path: string, fields: unknown) {
    this.#kind = kind;
    this.#path = path;
    if (!isFields(fields)) throw this.#unreadable();
    this.#fields = fields;
  }

  text(name: string): string | undefined {
    const value = this.#fields[name] ?? undefined;
    if (value === undefined || typeof value === 'string') return value;
    throw this.#unreadable(name);
  }

  texts(name: string): readonly string[] {
    const value = this.#fields[name] ?? [];
    if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
    throw this.#unreadable(name);
  }

  within(name: string): ReviewSpec | undefined {
    const value = this.#fields[name] ?? undefined;
    if (value === undefined) return undefined;
    return new ReviewSpec(this.#kind, `${this.#path}.${name}`, value);
  }

  invalid(message: string): never {
    throw failure(422, 'Invalid', `${this.#kind} is invalid: ${this.#path}.${message}`);
  }

  #unreadable(name?: string) {
    const field = name === undefined ? this.#path : `${this.#path}.${name}`;
    return badRequest(
      `${this.#kind} in version "v1" cannot be handled as a ${this.#kind}: json: cannot unmarshal the value of the field ${field}`,
    );
  }
}

/** The response to a review; `undefined` if the request is not one. */
export function review(
  { allows, users }: ReviewContext,
  exchange: Exchange,
  user: RequestUser,
): object | undefined {
  const { method, path } = exchange;
  if (method !== 'POST' || !Object.hasOwn(REVIEWS, path)) return undefined;
  const kind = REVIEWS[path as keyof typeof REVIEWS];
  const apiVersion = path.split('/').slice(2, 4).join('/');
  const sent = objectIn(exchange, { kind, apiVersion, custom: false }, '') as { spec?: unknown };
  const spec = new ReviewSpec(kind, 'spec', sent.spec ?? {});
  const status =
    kind === 'TokenReview'
      ? tokenStatus(spec, users)
      : {
          allowed: isAllowed(spec, allows, kind === 'SubjectAccessReview' ? subjectOf(spec) : user),
        };
  return { ...sent, metadata: {}, status };
}

/** The user that a SubjectAccessReview names. It has the groups that are given, and no other. */
function subjectOf(spec: ReviewSpec): RequestUser {
  const groups = spec.texts('groups');
  const name = spec.text('user') ?? '';
  if (name === '' && groups.length === 0) {
    spec.invalid('user: Invalid value: "": at least one of user or group must be specified');
  }
  return { name, uid: spec.text('uid') ?? '', groups, extra: {} };
}

function isAllowed(spec: ReviewSpec, allows: AccessRule, { name, ...user }: RequestUser): boolean {
  const asked = spec.within('resourceAttributes');
  if (asked === undefined) {
    return spec.invalid('resourceAttributes is required: the fake server reviews resources only');
  }
  return allows({
    user: name,
    ...user,
    verb: asked.text('verb') ?? '',
    group: asked.text('group') ?? '',
    resource: asked.text('resource') ?? '',
    subresource: asked.text('subresource'),
    name: asked.text('name'),
    namespace: asked.text('namespace') ?? '',
  });
}

/** kubernetes: pkg/registry/authentication/tokenreview/storage.go */
function tokenStatus(spec: ReviewSpec, users: FakeUsers): object {
  const token = spec.text('token') ?? '';
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const audiences = spec.texts('audiences');
  const found = users.ofToken(token, audiences.length === 0 ? undefined : audiences);
  if (found === undefined) return { user: {}, error: 'invalid bearer token' };
  const { name: username, uid, groups, extra } = found.user;
  const user = { username, ...(uid === '' ? {} : { uid }), groups, extra };
  return { authenticated: true, user, audiences: found.audiences };
}
