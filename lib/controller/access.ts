/**
 * The access that a program needs, declared as a plain value, and the ClusterRole and Roles that grant it. kubebuilder: the
 * markers `+kubebuilder:rbac`, which name verbs; here the library knows which verbs its own parts request.
 */

import { check, checkedList, checkedText, refusal } from '../checks/checked-option.ts';
import { similarNames } from '../client/similar-names.ts';
import { LEASES } from '../election/lease-record.ts';
import { isFields } from '../meta/json-fields.ts';
import type { GroupVersionResource } from '../meta/resource.ts';
import { EVENTS } from './events/event-series.ts';

/**
 * A call of a `ResourceClient`, or of the client of pods, by the name of its method. `finalizer` stands for the function of this
 * name, and for `addFinalizer` and `removeFinalizer`.
 */
export type AccessCall =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'updateStatus'
  | 'patch'
  | 'patchStatus'
  | 'apply'
  | 'applyStatus'
  | 'delete'
  | 'deleteCollection'
  | 'edit'
  | 'finalizer'
  | 'getScale'
  | 'updateScale'
  | 'patchScale'
  | 'log'
  | 'evict';

/** A resource that a program reads or writes. A `Resource` has all of these fields except the last. */
export interface AccessedResource extends Pick<GroupVersionResource, 'group' | 'plural'> {
  /** @defaultValue true */
  readonly namespaced?: boolean | undefined;
}

/** The calls of one resource. */
export interface AccessedCalls {
  readonly resource: AccessedResource;
  readonly calls: readonly AccessCall[];
  /** The subresource that is meant by the calls `get`, `create`, `update`, `patch` and `edit`, such as `resize`. */
  readonly subresource?: string | undefined;
}

/** The access that a program declares. */
export interface DeclaredAccess {
  /** The name of the ClusterRole and of the Roles. */
  readonly name: string;
  /** The namespace of all namespaced objects except the Lease. @defaultValue all namespaces */
  readonly namespace?: string | undefined;
  /** The resources of informers, listers and `untilCondition`. */
  readonly informers?: readonly AccessedResource[] | undefined;
  /** The calls of clients. */
  readonly clients?: readonly AccessedCalls[] | undefined;
  /** The Lease of `createLeaderElector`. */
  readonly leaderElection?: { readonly namespace: string; readonly name: string } | undefined;
  /** Whether the program has a `createEventRecorder`. @defaultValue false */
  readonly events?: boolean | undefined;
}

/** A rule of a role: rbac.authorization.k8s.io/v1, PolicyRule. */
export interface AccessRoleRule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}

/** A ClusterRole, or a Role of one namespace. */
export interface AccessRole {
  apiVersion: 'rbac.authorization.k8s.io/v1';
  kind: 'ClusterRole' | 'Role';
  metadata: { name: string; namespace?: string };
  rules: AccessRoleRule[];
}

/**
 * The verbs that each call requests, with the subresource: a dot is the object itself. The reads of `edit` and `finalizer` come
 * after a conflict, and an edit of a subresource reads the object itself.
 */
const CALLS: Readonly<Record<AccessCall, readonly string[]>> = {
  get: ['get'],
  list: ['list'],
  watch: ['watch'],
  create: ['create'],
  update: ['update'],
  updateStatus: ['update status'],
  patch: ['patch'],
  patchStatus: ['patch status'],
  // An apply may create the object.
  apply: ['create', 'patch'],
  applyStatus: ['patch status'],
  delete: ['delete'],
  deleteCollection: ['deletecollection'],
  edit: ['get .', 'patch'],
  finalizer: ['get', 'patch'],
  getScale: ['get scale'],
  updateScale: ['update scale'],
  patchScale: ['patch scale'],
  log: ['get log'],
  evict: ['create eviction'],
};

/** One verb of one resource. */
interface Grant extends Pick<AccessedResource, 'namespaced'> {
  readonly group: string;
  /** With the subresource: `foos/status`. */
  readonly resource: string;
  readonly verb: string;
  /** The only object that is meant. */
  readonly name?: string;
}

const NEXT =
  'declare it as in { name, informers: [pods], clients: [{ resource: pods, calls: ["edit"] }] }';

function checkName(where: string, name: unknown): void {
  const must = "a name such as 'my-controller'";
  checkedText(name, `access: ${where}`, /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, must);
}

function listOf<T>(where: string, list: readonly T[]): readonly T[] {
  return checkedList(list, `access: ${where}`, `a list; ${NEXT}`);
}

function checkResource(where: string, resource: AccessedResource | undefined): AccessedResource {
  const { group, plural } = (resource ?? {}) as Partial<AccessedResource>;
  if (typeof group === 'string' && typeof plural === 'string' && plural !== '') {
    return resource as AccessedResource;
  }
  const must = 'a Resource, such as pods of rx-informer/resources';
  throw refusal(`access: ${where}`, resource, must);
}

function callGrants({ resource, calls, subresource }: AccessedCalls, where: string): Grant[] {
  const { group, plural, namespaced } = resource;
  return listOf(`${where}.calls`, calls).flatMap((call, at) => {
    if (!Object.hasOwn(CALLS, call)) {
      const [near] = similarNames(String(call), Object.keys(CALLS));
      const next = near === undefined ? Object.keys(CALLS).join(', ') : `did you mean '${near}'?`;
      throw refusal(`access: ${where}.calls[${at}]`, call, `a call of a client: ${next}`);
    }
    return CALLS[call].map((text) => {
      const [verb = '', own = subresource] = text.split(' ');
      const isWhole = !own || own === '.';
      return { group, resource: isWhole ? plural : `${plural}/${own}`, verb, namespaced };
    });
  });
}

/** What the leader election requests. A `create` has no name in its path, so a rule cannot restrict it to one. */
function leaseGrants(name: string): Grant[] {
  const resource = { group: LEASES.group, resource: LEASES.plural };
  return [
    { ...resource, verb: 'create' },
    { ...resource, verb: 'get', name },
    { ...resource, verb: 'update', name },
  ];
}

/** Sorts by the plain order of their characters, so that the result is the same in every locale. */
function sorted(texts: Iterable<string>): string[] {
  return [...new Set(texts)].sort();
}

function compare(a: AccessRoleRule, b: AccessRoleRule): number {
  const [x, y] = [a, b].map(({ apiGroups, resources, resourceNames = [] }) =>
    [...apiGroups, ...resources, ...resourceNames].join(' '),
  ) as [string, string];
  return x < y ? -1 : Number(x > y);
}

/** The fewest rules: one for each resource, and one for all resources of a group that have the same verbs. */
function rulesOf(grants: readonly Grant[]): AccessRoleRule[] {
  const byResource = new Map<string, { readonly grant: Grant; readonly verbs: Set<string> }>();
  for (const grant of grants) {
    const key = [grant.group, grant.resource, grant.name].join(' ');
    const same = byResource.get(key) ?? { grant, verbs: new Set() };
    byResource.set(key, same);
    same.verbs.add(grant.verb);
  }
  const byVerbs = new Map<string, AccessRoleRule>();
  for (const { grant, verbs } of byResource.values()) {
    const { group, resource, name } = grant;
    const key = [group, name, ...sorted(verbs)].join(' ');
    const rule = byVerbs.get(key);
    byVerbs.set(key, {
      apiGroups: [group],
      resources: sorted([...(rule?.resources ?? []), resource]),
      verbs: sorted(verbs),
      ...(name === undefined ? {} : { resourceNames: [name] }),
    });
  }
  return [...byVerbs.values()].sort(compare);
}

/**
 * Returns the least ClusterRole and Roles with which a program runs that declares its access: at most one ClusterRole, for
 * everything in all namespaces and for cluster-scoped resources, and one Role per namespace. Rules, resources and verbs are
 * sorted. The command `rx-informer rbac` prints them, and `permittedBy` of `rx-informer/testing` enforces them in tests.
 *
 * Informers need `list` and `watch`, whatever their options, and a call needs the verbs of its requests: `edit` reads the object
 * again after a conflict, so it needs `get` and `patch`; with a subresource, `patch` of that one. A leader election needs `get` and `update` of its Lease, and `create`. An
 * event recorder needs `create` and `patch` of events.
 *
 * Throws a `TypeError` that names the field if the declaration is invalid.
 *
 * @example
 * ```ts
 * import { rolesFor } from 'rx-informer';
 * import { configMaps, pods } from 'rx-informer/resources';
 *
 * const [role] = rolesFor({
 *   name: 'pod-notes',
 *   namespace: 'shop',
 *   informers: [pods],
 *   clients: [{ resource: configMaps, calls: ['create', 'edit'] }],
 * });
 * role?.rules.map(({ resources, verbs }) => `${resources}: ${verbs}`); // => ['configmaps: create,get,patch', 'pods: list,watch']
 * ```
 */
export function rolesFor(access: DeclaredAccess): AccessRole[] {
  check(isFields(access), 'access: the declaration', access, `an object; ${NEXT}`);
  const { name, namespace, informers = [], clients = [], leaderElection, events } = access;
  checkName('name', name);
  if (namespace !== undefined) checkName('namespace', namespace);
  const watched = listOf('informers', informers).flatMap((each, at) =>
    callGrants(
      { resource: checkResource(`informers[${at}]`, each), calls: ['list', 'watch'] },
      'informers',
    ),
  );
  const called = listOf('clients', clients).flatMap((each, at) => {
    checkResource(`clients[${at}].resource`, each?.resource);
    return callGrants(each, `clients[${at}]`);
  });
  const recorded = events
    ? callGrants({ resource: EVENTS, calls: ['create', 'patch'] }, 'events')
    : [];
  const byPlace = new Map<string, Grant[]>();
  const add = (place: string, grant: Grant) =>
    byPlace.set(place, [...(byPlace.get(place) ?? []), grant]);
  for (const grant of [...watched, ...called, ...recorded]) {
    add(grant.namespaced === false ? '' : (namespace ?? ''), grant);
  }
  if (leaderElection !== undefined) {
    checkName('leaderElection.namespace', leaderElection.namespace);
    checkName('leaderElection.name', leaderElection.name);
    for (const grant of leaseGrants(leaderElection.name)) add(leaderElection.namespace, grant);
  }
  return sorted(byPlace.keys()).map((place) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: place === '' ? 'ClusterRole' : 'Role',
    metadata: place === '' ? { name } : { name, namespace: place },
    rules: rulesOf(byPlace.get(place) ?? []),
  }));
}
