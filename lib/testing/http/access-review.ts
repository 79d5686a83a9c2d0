/** Answers SelfSubjectAccessReviews by the rule that decides about requests. */
import { isFields } from '../../meta/json-fields.ts';
import { badRequest, failure } from '../../object-log/failures.ts';
import { objectIn } from '../writes/writes.ts';
import { type AccessRule, userOf } from './access.ts';
import type { Exchange } from './request.ts';

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const TYPE = { kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1' } as const;

/** The response to a SelfSubjectAccessReview; `undefined` if the request is not one. */
export function accessReview(rule: AccessRule, exchange: Exchange): object | undefined {
  const { method, path } = exchange;
  if (path !== REVIEWS || method !== 'POST') return undefined;
  const review = objectIn(exchange, { ...TYPE, custom: false }, '') as { readonly spec?: unknown };
  const unreadable = (field: string) =>
    badRequest(
      `${TYPE.kind} in version "v1" cannot be handled as a ${TYPE.kind}: json: cannot unmarshal the value of the field ${field}`,
    );
  const spec = review.spec ?? {};
  if (!isFields(spec)) throw unreadable('spec');
  const asked = spec.resourceAttributes ?? undefined;
  if (asked === undefined) {
    throw failure(
      422,
      'Invalid',
      'spec.resourceAttributes is required: the fake server reviews resources only',
    );
  }
  if (!isFields(asked)) throw unreadable('spec.resourceAttributes');
  const text = (name: string) => {
    const value = asked[name] ?? undefined;
    if (value === undefined || typeof value === 'string') return value;
    throw unreadable(`spec.resourceAttributes.${name}`);
  };
  const allowed = rule({
    user: userOf(exchange),
    verb: text('verb') ?? '',
    group: text('group') ?? '',
    resource: text('resource') ?? '',
    subresource: text('subresource'),
    name: text('name'),
    namespace: text('namespace') ?? '',
  });
  return { ...review, metadata: {}, status: { allowed } };
}
