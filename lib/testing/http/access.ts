/** Permissions of the fake server: refuses requests by one rule. */
import { type FieldRequirement, parseFieldRequirements } from '../../meta/field-selector.ts';
import { isSegment } from '../../meta/resource.ts';
import { failure } from '../../object-log/failures.ts';
import type { Exchange, RequestRecord, Target } from './request.ts';

/** What a request wants to do, as in the `resourceAttributes` of a SelfSubjectAccessReview. */
export interface AccessAttributes {
  /** Who asks: the user of the token (`users`), or the header `Impersonate-User`. @defaultValue 'tester' */
  readonly user?: string | undefined;
  /** The groups of the user, with `system:authenticated`; those of a SubjectAccessReview as they were sent. */
  readonly groups?: readonly string[] | undefined;
  /** The UID of the user; '' if it has none. */
  readonly uid?: string | undefined;
  /** Such as `list`, `watch`, `get`, `create`, `update`, `patch`, `delete` or `deletecollection`. */
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Such as `status`. Absent if the object itself is meant. */
  readonly subresource?: string | undefined;
  /**
   * The name of the object. Absent for a POST and for a collection, unless a list or a watch selects `metadata.name=…`.
   */
  readonly name?: string | undefined;
  /** '' for all namespaces, and for cluster-scoped resources. */
  readonly namespace: string;
}

/** Whether a request is permitted. */
export type AccessRule = (access: AccessAttributes) => boolean;

/** A user with its groups. */
export interface RequestUser {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** What decides about a request. */
export interface AccessContext {
  readonly allows: AccessRule;
  /** Who sends the request. */
  readonly user: RequestUser;
}

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch' };

/** The verb of a request. */
export function verbOf({ method }: Exchange, { use }: RequestRecord, { name }: Target): string {
  if (method === 'DELETE') return name === undefined ? 'deletecollection' : 'delete';
  if (method === 'GET') return use === 'call' ? 'get' : use;
  return VERBS[method] ?? method.toLowerCase();
}

/** The one object that a list or a watch selects. kubernetes: apiserver/pkg/endpoints/request/requestinfo.go */
function selectedName(selector: string): string | undefined {
  let requirements: FieldRequirement[];
  try {
    requirements = parseFieldRequirements(selector);
  } catch {
    return undefined;
  }
  const exact = ({ field, operator }: FieldRequirement) =>
    field === 'metadata.name' && operator === '=';
  const name = requirements.find(exact)?.value;
  return isSegment(name) ? name : undefined;
}

/** Throws a 403 if the rule does not permit this verb for a request. */
export function checkAccess(
  { allows, user: { name: user, groups, uid } }: AccessContext,
  exchange: Exchange,
  verb: string,
  target: Target,
): void {
  const { group, plural } = target.collection.served.resource;
  const { subresource } = target;
  // A request for a Namespace is one in it, so a Role of the namespace permits it. apiserver: requestinfo.go
  const isNamespace = group === '' && plural === 'namespaces' && target.name !== undefined;
  const namespace = isNamespace ? (target.name as string) : target.namespace;
  const reads = verb === 'list' || verb === 'watch';
  const name = reads ? selectedName(exchange.query.get('fieldSelector') ?? '') : target.name;
  const who = { user, groups, uid };
  if (allows({ ...who, verb, group, resource: plural, subresource, name, namespace })) return;
  const of = name === undefined ? '' : ` ${JSON.stringify(name)}`;
  const full = subresource === undefined ? plural : `${plural}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const message = `${target.resourceName}${of} is forbidden: User "${user}" cannot ${verb} resource "${full}" in API group "${group}" ${where}`;
  throw failure(403, 'Forbidden', message);
}
