/** Which rules of roles permit a request. kubernetes: plugin/pkg/auth/authorizer/rbac */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { defineResource, type Resource } from '../meta/resource.ts';
import type { AccessAttributes, AccessRule } from './http/access.ts';
import type { ServerLog } from './served-resource.ts';

/** A rule of a Role or a ClusterRole. */
export interface PolicyRule {
  readonly apiGroups?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[] | null | undefined;
}

interface Role extends KubernetesObject {
  readonly rules?: readonly PolicyRule[] | null;
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

interface Binding extends KubernetesObject {
  readonly subjects?: readonly Subject[];
  readonly roleRef?: { readonly kind: string; readonly name: string };
}

/** The kinds that decide: a server whose rule is `rbac` serves them. */
export function rbacResources(): readonly Resource<KubernetesObject>[] {
  const of = (plural: string, kind: string, namespaced: boolean) =>
    defineResource<KubernetesObject>({
      ...{ group: 'rbac.authorization.k8s.io', version: 'v1' },
      ...{ plural, kind, namespaced },
    });
  return [
    of('roles', 'Role', true),
    of('rolebindings', 'RoleBinding', true),
    of('clusterroles', 'ClusterRole', false),
    of('clusterrolebindings', 'ClusterRoleBinding', false),
  ];
}

const hasAny = (list: readonly string[] | null | undefined, wanted: string) =>
  Array.isArray(list) && (list.includes('*') || list.includes(wanted));

/** Whether one rule permits a request. */
export function grants(rule: PolicyRule, asked: AccessAttributes): boolean {
  const { verb, group, resource, subresource = '', name = '' } = asked;
  const resourceNames = rule.resourceNames ?? [];
  const full = subresource === '' ? resource : `${resource}/${subresource}`;
  return (
    hasAny(rule.verbs, verb) &&
    hasAny(rule.apiGroups, group) &&
    (hasAny(rule.resources, full) ||
      (subresource !== '' && rule.resources?.includes(`*/${subresource}`) === true)) &&
    (resourceNames.length === 0 || resourceNames.includes(name))
  );
}

function isSubject(subject: Subject, namespace: string, { user, groups }: AccessAttributes) {
  if (subject.kind === 'Group') return groups?.includes(subject.name) === true;
  if (subject.kind === 'User') return subject.name === user;
  const own = subject.namespace ?? namespace;
  return own !== '' && user === `system:serviceaccount:${own}:${subject.name}`;
}

/**
 * A rule that asks the Roles, ClusterRoles and bindings that the server has at the moment. Members of `system:masters` may do
 * everything. Aggregated ClusterRoles have the rules that are written into them.
 */
export function rbacOf(log: ServerLog): AccessRule {
  const allOf = (plural: string): readonly object[] =>
    log.collections.get(`${plural}.rbac.authorization.k8s.io`)?.sorted() ?? [];
  const bindings = (plural: string) => allOf(plural) as readonly Binding[];
  const rulesOf = ({ roleRef, metadata }: Binding): readonly PolicyRule[] => {
    const isWide = roleRef?.kind === 'ClusterRole';
    const role = (allOf(isWide ? 'clusterroles' : 'roles') as readonly Role[]).find(
      (each) =>
        each.metadata?.name === roleRef?.name &&
        (isWide || each.metadata?.namespace === metadata?.namespace),
    );
    return role?.rules ?? [];
  };
  const permits = (binding: Binding, asked: AccessAttributes) => {
    const namespace = binding.metadata?.namespace ?? '';
    const isFor = binding.subjects?.some((subject) => isSubject(subject, namespace, asked));
    return isFor === true && rulesOf(binding).some((rule) => grants(rule, asked));
  };
  return (asked) =>
    asked.groups?.includes('system:masters') === true ||
    bindings('clusterrolebindings').some((binding) => permits(binding, asked)) ||
    bindings('rolebindings').some(
      (binding) =>
        asked.namespace !== '' &&
        binding.metadata?.namespace === asked.namespace &&
        permits(binding, asked),
    );
}
