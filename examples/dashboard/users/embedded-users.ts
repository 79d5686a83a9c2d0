/** The users of the embedded cluster: one who sees everything, and one with the rights of a team. */
import { randomBytes } from 'node:crypto';
import { clusterRoleBindings, clusterRoles, roleBindings } from 'rx-informer/resources';
import type { FakeApiServer, FakeUser } from 'rx-informer/testing';

const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'update', 'patch', 'delete'];

/** The namespaces of the team. */
export const TEAM_NAMESPACES = ['shop', 'payments'];

export interface EmbeddedUsers {
  readonly tokens: Readonly<Record<string, FakeUser>>;
  /** The token of the dashboard itself. */
  readonly own: string;
  /** How to sign in, line by line. */
  readonly words: readonly string[];
}

/** Users with tokens of this start only. */
export function embeddedUsers(): EmbeddedUsers {
  const [own, admin, team] = [1, 2, 3].map(() => randomBytes(12).toString('hex')) as [
    ...[string, string, string],
  ];
  return {
    own,
    tokens: {
      [own]: { name: 'dashboard', groups: ['system:masters'] },
      [admin]: { name: 'ann', uid: 'user-ann', groups: ['operators'] },
      [team]: { name: 'bob', uid: 'user-bob', groups: ['shop-team'] },
    },
    words: [
      `Sign in as ann, who may see and change everything, with the token ${admin}`,
      `or as bob, who may see and change ${TEAM_NAMESPACES.join(' and ')}, with the token ${team}`,
    ],
  };
}

const EVERYTHING = { apiGroups: ['*'], resources: ['*'], verbs: [...READ, ...WRITE] };

/** Creates the roles of the users. */
export function createRoles({ objects }: FakeApiServer): void {
  objects.create(clusterRoles, { metadata: { name: 'operate' }, rules: [EVERYTHING] });
  const apiGroup = 'rbac.authorization.k8s.io';
  const bound = (group: string) => ({
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'operate' },
    subjects: [{ apiGroup, kind: 'Group', name: group }],
  });
  objects.create(clusterRoleBindings, {
    metadata: { name: 'operators' },
    ...bound('operators'),
  });
  for (const namespace of TEAM_NAMESPACES) {
    objects.create(roleBindings, {
      metadata: { namespace, name: 'shop-team' },
      ...bound('shop-team'),
    });
  }
}
