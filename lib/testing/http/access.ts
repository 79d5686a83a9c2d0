/** Permissions of the fake server: refuses requests, and answers SelfSubjectAccessReviews, by one rule. */
import { failure } from '../../object-log/failures.ts';
import type { Exchange, RequestRecord, Target } from './request.ts';

/** What a request wants to do, as in the `resourceAttributes` of a SelfSubjectAccessReview. */
export interface AccessAttributes {
  /** Such as `list`, `watch`, `get`, `create`, `update`, `patch`, `delete` or `deletecollection`. */
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
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

/** Throws a 403 if the rule does not permit a request. */
export function checkAccess(
  rule: AccessRule,
  exchange: Exchange,
  request: RequestRecord,
  target: Target,
): void {
  const { group, plural } = target.collection.served.resource;
  const { namespace } = target;
  const verb = verbOf(exchange, request, target);
  if (rule({ verb, group, resource: plural, namespace })) return;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const message = `${target.resourceName} is forbidden: User "tester" cannot ${verb} resource "${plural}" in API group "${group}" ${where}`;
  throw failure(403, 'Forbidden', message);
}

/** The response to a SelfSubjectAccessReview; `undefined` if the request is not one. */
export function accessReview(
  rule: AccessRule,
  { method, path, body }: Exchange,
): object | undefined {
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
  const allowed = rule({ verb, group, resource, namespace });
  return { ...review, metadata: {}, status: { allowed } };
}
