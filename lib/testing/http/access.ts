/** Permissions of the fake server: refuses requests, and answers SelfSubjectAccessReviews, by one rule. */
import { failure } from '../../object-log/failures.ts';
import type { Exchange, RequestRecord, Target } from './request.ts';

/** What a request wants to do, as in the `resourceAttributes` of a SelfSubjectAccessReview. */
export interface AccessAttributes {
  /** Who asks: the header `Impersonate-User` of the request. @defaultValue 'tester' */
  readonly user?: string | undefined;
  /** Such as `list`, `watch`, `get`, `create`, `update`, `patch`, `delete` or `deletecollection`. */
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Such as `status`. Absent if the object itself is meant. */
  readonly subresource?: string | undefined;
  /** The name of the object. Absent for a collection, and for an object that is created. */
  readonly name?: string | undefined;
  /** '' for all namespaces, and for cluster-scoped resources. */
  readonly namespace: string;
}

/** Whether a request is permitted. */
export type AccessRule = (access: AccessAttributes) => boolean;

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch' };

function verbOf({ method }: Exchange, { use }: RequestRecord, { name }: Target): string {
  if (method === 'DELETE') return name === undefined ? 'deletecollection' : 'delete';
  if (method === 'GET') return use === 'call' ? 'get' : use;
  return VERBS[method] ?? method.toLowerCase();
}

function userOf({ header }: Exchange): string {
  return header('impersonate-user') ?? 'tester';
}

/** Throws a 403 if the rule does not permit a request. */
export function checkAccess(
  rule: AccessRule,
  exchange: Exchange,
  request: RequestRecord,
  target: Target,
): void {
  const { group, plural } = target.collection.served.resource;
  const { namespace, name, subresource } = target;
  const verb = verbOf(exchange, request, target);
  const user = userOf(exchange);
  if (rule({ user, verb, group, resource: plural, subresource, name, namespace })) return;
  const of = name === undefined ? '' : ` ${JSON.stringify(name)}`;
  const full = subresource === undefined ? plural : `${plural}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const message = `${target.resourceName}${of} is forbidden: User "${user}" cannot ${verb} resource "${full}" in API group "${group}" ${where}`;
  throw failure(403, 'Forbidden', message);
}

/** The response to a SelfSubjectAccessReview; `undefined` if the request is not one. */
export function accessReview(rule: AccessRule, exchange: Exchange): object | undefined {
  const { method, path, body } = exchange;
  if (path !== REVIEWS || method !== 'POST') return undefined;
  const review = JSON.parse(body) as { spec?: { resourceAttributes?: Partial<AccessAttributes> } };
  const { resourceAttributes } = review.spec ?? {};
  if (resourceAttributes === undefined) {
    throw failure(
      422,
      'Invalid',
      'spec.resourceAttributes is required: the fake server reviews resources only',
    );
  }
  const { verb = '', group = '', resource = '', namespace = '' } = resourceAttributes;
  const { subresource, name } = resourceAttributes;
  const user = userOf(exchange);
  const allowed = rule({ user, verb, group, resource, subresource, name, namespace });
  return { ...review, metadata: {}, status: { allowed } };
}
