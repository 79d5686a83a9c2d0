/** The users of the fake API server: tokens, reviews, impersonation, the rights of stored roles, and `permittedBy`, the authorizer of tests. */
import { createClient, createInformerFactory, createResourceClient, rolesFor } from 'rx-informer';
import {
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  deployments,
  namespaces,
  pods,
  roleBindings,
  roles,
} from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServerOptions, permittedBy } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';

const users = {
  't-ann': { name: 'ann', uid: 'u-1', groups: ['team-a'], extra: { scopes: ['x'] } },
  't-root': { name: 'root', groups: ['system:masters'] },
  't-app': { name: 'bob', audiences: ['dashboard'] },
  't-robot': { name: 'system:serviceaccount:ops:robot' },
};

function rig(options: FakeApiServerOptions = {}) {
  const server = createFakeApiServer({ users, allows: 'rbac', ...options });
  const clientOf = (token: string, headers: Record<string, string> = {}) =>
    createClient({
      baseUrl: 'http://fake',
      fetch: server.fetch,
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
  const list = (token: string, path: string, headers?: Record<string, string>) =>
    clientOf(token, headers)
      .request({ path })
      .then(
        () => 200,
        ({ code }) => code as number,
      );
  const review = async (group: string, plural: string, spec: object, token = 't-root') => {
    const path = `/apis/${group}.k8s.io/v1/${plural}`;
    const answer = await clientOf(token).request<{ status: Record<string, unknown> }>({
      ...{ method: 'POST', path, body: { spec } },
    });
    return answer.status;
  };
  const bind = (role: string, subject: object, namespace?: string) => {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
    const subjects = [subject as { kind: string; name: string }];
    const binding = { roleRef, subjects };
    if (namespace === undefined) {
      return server.objects.create(clusterRoleBindings, { metadata: { name: role }, ...binding });
    }
    return server.objects.create(roleBindings, { metadata: { namespace, name: role }, ...binding });
  };
  const role = (name: string, rule: Partial<Record<string, string[]>>) =>
    server.objects.create(clusterRoles, {
      metadata: { name },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'], ...rule }],
    });
  return { server, clientOf, list, review, bind, role };
}

const PODS = '/api/v1/namespaces/shop/pods';

describe('users of the fake API server', () => {
  it('A96: a request without a valid token is answered with a 401', async () => {
    const { list } = rig({ allows: () => true });
    expect(await list('t-ann', PODS)).toBe(200);
    for (const token of ['', 'other', 't-app', '__proto__', 'constructor']) {
      expect([token, await list(token, PODS)]).toEqual([token, 401]);
    }
  });

  it('A96: a user without a name, or with an empty token, is a TypeError', () => {
    for (const wrong of [
      ...[null, [], 'ann', { t: {} }, { t: { name: '' } }, { t: 'ann' }, { '': { name: 'ann' } }],
      ...[{ t: { name: 'ann', groups: 'admin' } }, { t: { name: 'ann', audiences: 'me' } }],
    ]) {
      expect(() => createFakeApiServer({ users: wrong as never })).toThrow(
        /createFakeApiServer: users/,
      );
    }
  });

  it('A14: a rule that answers with a Promise permits nothing, and the answer says why', async () => {
    const { clientOf } = rig({ allows: (async () => true) as never });
    await expect(clientOf('t-ann').request({ path: PODS })).rejects.toThrow(
      'createFakeApiServer: what allows returned is {}; it must be true or false',
    );
  });

  it('A96: the right to impersonate is asked once for each request, also for one that creates by a PUT', async () => {
    const asked: string[] = [];
    const { clientOf } = rig({
      allows: ({ verb, resource }) => {
        asked.push(`${verb} ${resource}`);
        return true;
      },
    });
    const path = '/apis/coordination.k8s.io/v1/namespaces/shop/leases/lead';
    const body = { metadata: { namespace: 'shop', name: 'lead' }, spec: {} };
    await clientOf('t-ann', { 'impersonate-user': 'bob' }).request({ method: 'PUT', path, body });
    expect(asked).toEqual(['impersonate users', 'update leases', 'create leases']);
  });

  it('A96: a TokenReview knows the tokens, for their audiences', async () => {
    const { review } = rig();
    const of = (token: string, audiences?: string[]) =>
      review('authentication', 'tokenreviews', { token, audiences });
    expect(await of('t-ann')).toEqual({
      authenticated: true,
      audiences: ['https://kubernetes.default.svc'],
      user: {
        username: 'ann',
        uid: 'u-1',
        groups: ['team-a', 'system:authenticated'],
        extra: { scopes: ['x'] },
      },
    });
    expect((await of('t-app')).authenticated).toBeUndefined();
    expect((await of('t-app', ['dashboard', 'other'])).audiences).toEqual(['dashboard']);
    expect((await of('t-ann', ['dashboard'])).authenticated).toBeUndefined();
    expect((await of('other')).error).toBe('invalid bearer token');
    await expect(of('')).rejects.toThrow('token is required');
  });

  it('A96: impersonates only with the verb `impersonate`, also for each group', async () => {
    const { list, role, bind } = rig();
    const asAnn = { 'impersonate-user': 'ann' };
    expect(await list('t-root', PODS, asAnn)).toBe(403);
    expect(await list('t-ann', PODS, { 'impersonate-user': 'root' })).toBe(403);
    role('read', {});
    bind('read', { kind: 'Group', name: 'team-a' });
    expect(await list('t-root', PODS, asAnn)).toBe(403);
    expect(await list('t-root', PODS, { ...asAnn, 'impersonate-group': 'x, team-a' })).toBe(200);
    role('act', { resources: ['users'], verbs: ['impersonate'], resourceNames: ['root'] });
    bind('act', { kind: 'User', name: 'ann' });
    const groups = { 'impersonate-user': 'root', 'impersonate-group': 'system:masters' };
    expect(await list('t-ann', '/api/v1/secrets', groups)).toBe(403);
    const withUid = { 'impersonate-user': 'root', 'impersonate-uid': '42' };
    bind('read', { kind: 'User', name: 'root' }, 'shop');
    expect(await list('t-ann', PODS, withUid)).toBe(403);
    role('uids', {
      ...{ apiGroups: ['authentication.k8s.io'], resources: ['uids'], verbs: ['impersonate'] },
    });
    bind('uids', { kind: 'User', name: 'ann' });
    expect(await list('t-ann', PODS, withUid)).toBe(200);
  });
});

describe('rights of stored roles', () => {
  it('A97: come from bindings of users, groups and service accounts, in their namespaces, at each request', async () => {
    const { list, role, bind, server } = rig();
    role('read', {});
    for (const [token, subject] of [
      ['t-ann', { kind: 'User', name: 'ann' }],
      ['t-ann', { kind: 'Group', name: 'team-a' }],
      ['t-ann', { kind: 'Group', name: 'system:authenticated' }],
      ['t-robot', { kind: 'ServiceAccount', name: 'robot', namespace: 'ops' }],
    ] as const) {
      expect(await list(token, PODS)).toBe(403);
      bind('read', subject, 'shop');
      expect([subject, await list(token, PODS)]).toEqual([subject, 200]);
      expect(await list(token, '/api/v1/namespaces/other/pods')).toBe(403);
      expect(await list(token, '/api/v1/pods')).toBe(403);
      server.objects.delete(roleBindings, { namespace: 'shop', name: 'read' });
    }
    bind('read', { kind: 'User', name: 'ann' });
    expect(await list('t-ann', '/api/v1/pods')).toBe(200);
    expect(await list('t-ann', PODS)).toBe(200);
    expect(await list('t-robot', PODS)).toBe(403);
  });

  it.each([
    [{ verbs: ['*'] }, [true, true, false, false, false]],
    [{ resources: ['*'] }, [true, false, true, true, false]],
    [{ resources: ['*/status'] }, [false, false, true, false, false]],
    [{ apiGroups: ['*'], resources: ['deployments'] }, [false, false, false, false, true]],
    [{ resourceNames: ['web'] }, [false, false, false, false, false]],
    [{ apiGroups: ['apps'] }, [false, false, false, false, false]],
  ])('A97: rules have wildcards and names: %j', async (rule, expected) => {
    const { role, bind, review } = rig();
    role('some', rule);
    bind('some', { kind: 'User', name: 'ann' });
    const asked = [
      { verb: 'list', resource: 'pods' },
      { verb: 'watch', resource: 'pods' },
      { verb: 'list', resource: 'pods', subresource: 'status' },
      { verb: 'list', resource: 'secrets' },
      { verb: 'list', group: 'apps', resource: 'deployments' },
    ];
    const allowed = [];
    for (const resourceAttributes of asked) {
      const spec = { user: 'ann', resourceAttributes };
      allowed.push((await review('authorization', 'subjectaccessreviews', spec)).allowed);
    }
    expect(allowed).toEqual(expected);
  });

  it('A97: a Role of a namespace permits to read the Namespace, and a list that is null permits as if it were absent', async () => {
    const { list, bind, server, role } = rig();
    server.objects.create(namespaces, { metadata: { name: 'shop' } });
    role('read', {});
    role('own', { resources: ['namespaces'], verbs: ['get'], resourceNames: null as never });
    bind('own', { kind: 'User', name: 'ann' }, 'shop');
    expect(await list('t-ann', '/api/v1/namespaces/shop')).toBe(200);
    expect(await list('t-ann', '/api/v1/namespaces/other')).toBe(403);
    expect(await list('t-ann', '/api/v1/namespaces')).toBe(403);
    server.objects.create(clusterRoleBindings, { metadata: { name: 'odd' } } as never);
    expect(await list('t-ann', '/api/v1/secrets')).toBe(403);
  });

  it('A97: a review adds no group to those that it names, and one of oneself has those of the token', async () => {
    const { role, bind, review } = rig();
    role('read', {});
    bind('read', { kind: 'Group', name: 'system:authenticated' });
    const resourceAttributes = { verb: 'list', resource: 'pods' };
    const of = async (spec: object) =>
      (await review('authorization', 'subjectaccessreviews', { resourceAttributes, ...spec }))
        .allowed;
    expect(await of({ user: 'ann' })).toBe(false);
    expect(await of({ user: 'ann', groups: ['system:authenticated'] })).toBe(true);
    await expect(of({})).rejects.toThrow('at least one of user or group must be specified');
    await expect(of({ user: 'ann', groups: 'a' })).rejects.toThrow('field spec.groups');
    const own = await review(
      'authorization',
      'selfsubjectaccessreviews',
      { resourceAttributes },
      't-ann',
    );
    expect(own.allowed).toBe(true);
  });

  it('A97: an informer of a user whose Role is deleted is refused from then on', async () => {
    const { server, clientOf } = rig();
    const metadata = { namespace: 'shop', name: 'read' };
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] }];
    server.objects.create(roles, { metadata, rules });
    server.objects.create(roleBindings, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'read' },
      subjects: [{ kind: 'User', name: 'ann' }],
    });
    server.objects.create(configMaps, { metadata: { namespace: 'shop', name: 'prices' } });
    const factory = createInformerFactory(clientOf('t-ann'), { namespace: 'shop' });
    const own = factory.informer(configMaps);
    const other = factory.informer(pods);
    factory.start();
    await own.whenSynced();
    await expect(other.whenSynced()).rejects.toThrow(
      'pods is forbidden: User "ann" cannot list resource "pods" in API group "" in the namespace "shop"',
    );
    server.objects.delete(roles, metadata);
    server.faults.dropWatches();
    await eventually(() => expect(own.status.blocked).toBe('forbidden'));
    await factory.stop();
  });
});

describe('permittedBy', () => {
  const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const access = {
    name: 'notes',
    namespace: 'shop',
    clients: [
      { resource: configMaps, calls: ['get'] },
      { resource: deployments, calls: ['updateStatus'] },
    ],
    leaderElection: { namespace: 'system', name: 'notes' },
  } as const;
  const roles = rolesFor(access);
  const lease = (namespace: string, name: string) =>
    `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`;

  it('A92: permits what the roles grant, in their namespaces and for their names', async () => {
    const { fetch, objects } = createFakeApiServer({ allows: permittedBy(roles) });
    const statusOf = async (path: string) => (await fetch(`http://fake${path}`)).status;
    objects.create(configMaps, { metadata: { namespace: 'shop', name: 'prices' } });
    expect(await statusOf('/api/v1/namespaces/shop/configmaps/prices')).toBe(200);
    expect(await statusOf('/api/v1/namespaces/system/configmaps/prices')).toBe(403);
    expect(await statusOf('/api/v1/namespaces/shop/configmaps')).toBe(403);
    expect(await statusOf(lease('system', 'notes'))).toBe(404);
    expect(await statusOf(lease('system', 'other'))).toBe(403);
    expect(await statusOf(lease('shop', 'notes'))).toBe(403);
  });

  it('A92: a refusal names the user, the verb, the subresource and the object, and a review has the same answer', async () => {
    const server = createFakeApiServer({ allows: permittedBy(roles, { user: 'notes' }) });
    const to = { baseUrl: 'http://fake', fetch: server.fetch };
    const admin = createClient(to);
    const client = createClient({ ...to, headers: { 'impersonate-user': 'notes' } });
    const metadata = { namespace: 'shop', name: 'web' };
    const spec = { selector: {}, template: { spec: { containers: [] } } };
    const web = await createResourceClient(admin, deployments).create({ metadata, spec });
    const calls = createResourceClient(client, deployments);
    await calls.updateStatus({ ...web, status: { replicas: 1 } });
    const refused = {
      update: calls.update(web),
      'patch status': calls.patchStatus(web, { merge: {} }),
    };
    await expect(refused.update).rejects.toThrow(
      'deployments.apps "web" is forbidden: User "notes" cannot update resource "deployments" in API group "apps" in the namespace "shop"',
    );
    await expect(refused['patch status']).rejects.toThrow(
      'deployments.apps "web" is forbidden: User "notes" cannot patch resource "deployments/status" in API group "apps" in the namespace "shop"',
    );
    const allowed = async (subresource: string, user: typeof client) => {
      const asked = { verb: 'update', group: 'apps', resource: 'deployments', namespace: 'shop' };
      const body = { spec: { resourceAttributes: { ...asked, subresource } } };
      const answer = await user.request<{ status: { allowed: boolean } }>({
        ...{ method: 'POST', path: REVIEWS, body },
      });
      return answer.status.allowed;
    };
    expect(await allowed('status', client)).toBe(true);
    expect(await allowed('', client)).toBe(false);
    expect(await allowed('', admin)).toBe(true);
  });
});
